// Controls of a demo: sliders for bodies, delay and loss, and adding nodes. Shown only if the world
// offers them.
import { button, input, part, write } from "../dom";
import type { Demo } from "../protocol/messages";
import { whole } from "./text";

/** A slider sends its value after resting for this time. */
const REST_MS = 150;

export class DemoControls {
  /** The slider that is being dragged: updates from the server do not move it. */
  private held: HTMLInputElement | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: (control: object) => void) {
    this.slider("bodies", () => send({ do: "bodies", count: Number(input("bodies").value) }));
    for (const id of ["delay", "loss"]) this.slider(id, () => this.sendNetwork());
    button("add-node").addEventListener("click", () => send({ do: "add" }));
    this.words();
  }

  /** Controls of a new world. */
  allow(controls: ReadonlySet<string>): void {
    button("add-node").hidden = !controls.has("add");
    let any = false;
    for (const row of document.querySelectorAll<HTMLElement>("[data-control]")) {
      row.hidden = !controls.has(row.dataset.control ?? "");
      any ||= !row.hidden;
    }
    part("demo").hidden = !any;
  }

  /** Takes over the settings of the demo. */
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

  private sendNetwork(): void {
    const loss = Number(input("loss").value) / 100;
    this.send({ do: "network", delay_ms: Number(input("delay").value), loss });
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
