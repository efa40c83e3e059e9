// What a demo lets a page do: bodies, delay and loss by sliders, nodes added. Shown only as far as
// the world allows it.
import { button, input, part, write } from "../dom";
import type { Demo } from "../protocol/words";
import { whole } from "./text";

/** A slider that moves says what it wants only after it has rested for so long. */
const REST_MS = 150;

export class DemoControls {
  /** The slider that somebody holds: what the server says must not move it. */
  private held: HTMLInputElement | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly say: (order: object) => void) {
    this.slider("bodies", () => say({ do: "bodies", count: Number(input("bodies").value) }));
    for (const id of ["delay", "loss"]) this.slider(id, () => this.sayNetwork());
    button("add-node").addEventListener("click", () => say({ do: "add" }));
    this.words();
  }

  /** A new world, which allows these. */
  allow(controls: ReadonlySet<string>): void {
    button("add-node").hidden = !controls.has("add");
    let any = false;
    for (const row of document.querySelectorAll<HTMLElement>("[data-control]")) {
      row.hidden = !controls.has(row.dataset.control ?? "");
      any ||= !row.hidden;
    }
    part("demo").hidden = !any;
  }

  /** How the demo is set. */
  take(demo: Demo): void {
    const set = (id: string, value: number) => {
      const slider = input(id);
      if (slider === this.held) return;
      if (value > Number(slider.max)) slider.max = String(value);
      slider.value = String(value);
    };
    set("bodies", demo.bodies);
    set("delay", demo.delayMs);
    set("loss", demo.loss * 100);
    this.words();
  }

  private sayNetwork(): void {
    const loss = Number(input("loss").value) / 100;
    this.say({ do: "network", delay_ms: Number(input("delay").value), loss });
  }

  private slider(id: string, rested: () => void): void {
    const slider = input(id);
    slider.addEventListener("input", () => {
      this.held = slider;
      this.words();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.held = null;
        rested();
      }, REST_MS);
    });
  }

  private words(): void {
    write(part("bodies-value"), whole(Number(input("bodies").value)));
    write(part("delay-value"), `${input("delay").value} ms`);
    write(part("loss-value"), `${Number(input("loss").value)} %`);
  }
}
