// The bar of a recording: timeline with collisions, play, speed, steps and jumps.
import { button, canvas, element, input, part, write } from "./dom";
import { TOUCHING } from "./colours";
import type { Recording, Replay } from "./protocol/messages";
import { isTyping } from "./walk/keys";

/** Drawn in a square of 16. */
const PLAY = "M5 3v10l8-5z";
const PAUSE = "M4 3h3v10H4zM9 3h3v10H9z";

const KEYS: Readonly<Record<string, object | "toggle">> = {
  k: "toggle",
  ".": { do: "step", by: 1 },
  ",": { do: "step", by: -1 },
  n: { do: "collision", by: 1 },
  p: { do: "collision", by: -1 },
};

export class ReplayBar {
  state: Replay = { type: "replay", tick: 0, playing: false, factor: 1 };
  private recording: Recording | null = null;
  private held = false;

  constructor(private readonly send: (control: object) => void) {
    const on = (id: string, control: object) =>
      button(id).addEventListener("click", () => this.send(control));
    on("replay-back-hit", { do: "collision", by: -1 });
    on("replay-back", { do: "step", by: -1 });
    on("replay-forward", { do: "step", by: 1 });
    on("replay-next-hit", { do: "collision", by: 1 });
    button("replay-play").addEventListener("click", () => this.toggle());
    const line = input("replay-tick");
    line.addEventListener("input", () => {
      this.held = true;
      this.send({ do: "seek", tick: Number(line.value) });
    });
    line.addEventListener("change", () => (this.held = false));
    const speed = element("replay-speed", HTMLSelectElement);
    speed.addEventListener("change", () => this.send({ do: "speed", factor: Number(speed.value) }));
    window.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.drawMarks()).observe(canvas("replay-marks"));
  }

  /** The recording of a new world; null if it is live. */
  load(recording: Recording | null): void {
    this.recording = recording;
    part("replay").hidden = recording === null;
    if (recording === null) return;
    const line = input("replay-tick");
    line.min = String(recording.first);
    line.max = String(recording.last);
    this.take({ type: "replay", tick: recording.first, playing: false, factor: 1 });
    this.drawMarks();
  }

  /** Takes over the position. */
  take(state: Replay): void {
    this.state = state;
    const line = input("replay-tick");
    if (!this.held) line.value = String(state.tick);
    write(part("replay-place"), `${state.tick} / ${this.recording?.last ?? 0}`);
    const play = button("replay-play");
    play.querySelector("path")?.setAttribute("d", state.playing ? PAUSE : PLAY);
    play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    const speed = element("replay-speed", HTMLSelectElement);
    if (document.activeElement !== speed) speed.value = String(state.factor);
  }

  private toggle(): void {
    this.send({ do: this.state.playing ? "pause" : "play" });
  }

  private key(event: KeyboardEvent): void {
    if (this.recording === null || event.defaultPrevented || isTyping(event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const control = KEYS[event.key.toLowerCase()];
    if (control === undefined) return;
    event.preventDefault();
    if (control === "toggle") this.toggle();
    else this.send(control as object);
  }

  private drawMarks(): void {
    const marks = canvas("replay-marks");
    const { recording } = this;
    const [width, height] = [marks.clientWidth, marks.clientHeight];
    if (recording === null || width === 0) return;
    marks.width = width;
    marks.height = height;
    const pen = marks.getContext("2d");
    if (!pen) return;
    pen.fillStyle = TOUCHING;
    const ticks = Math.max(1, recording.last - recording.first);
    for (const tick of recording.collisions) {
      pen.fillRect(Math.round(((tick - recording.first) / ticks) * (width - 2)), 0, 2, height);
    }
  }
}
