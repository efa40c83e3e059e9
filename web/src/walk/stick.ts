// An on-screen stick for touch screens: shown while walking or flying.
import { button, part } from "../dom";
import type { Direction } from "./keys";

/** Full deflection, as a fraction of the pad's radius. */
const REACH = 0.8;

export class Stick {
  private flat: [number, number] = [0, 0];
  private up = 0;
  private finger: number | null = null;
  /** Whether the screen is used by touch. */
  private touched = window.matchMedia("(pointer: coarse)").matches;
  private wanted = false;

  constructor(private readonly changed: () => void) {
    const pad = part("stick-pad");
    pad.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      pad.setPointerCapture(event.pointerId);
      this.finger = event.pointerId;
      this.move(event);
    });
    pad.addEventListener("pointermove", (event) => this.move(event));
    for (const over of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      pad.addEventListener(over, (event) => {
        if (event.pointerId === this.finger) this.release();
      });
    }
    this.lift("stick-up", 1);
    this.lift("stick-down", -1);
    window.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch" || this.touched) return;
      this.touched = true;
      this.show(this.wanted);
    });
  }

  get isShown(): boolean {
    return this.wanted && this.touched;
  }

  /** Shows the stick while walking or flying. */
  show(wanted: boolean): void {
    this.wanted = wanted;
    part("stick").hidden = !this.isShown;
    if (!wanted) this.release();
  }

  /** Right, up, back; of length 1 at most. */
  direction(): Direction {
    return [this.flat[0], this.up, this.flat[1]];
  }

  private lift(id: string, up: number): void {
    const set = (value: number) => {
      this.up = value;
      this.changed();
    };
    button(id).addEventListener("pointerdown", () => set(up));
    for (const over of ["pointerup", "pointercancel", "pointerleave"] as const) {
      button(id).addEventListener(over, () => set(0));
    }
    button(id).addEventListener("contextmenu", (event) => event.preventDefault());
  }

  private move(event: PointerEvent): void {
    if (event.pointerId !== this.finger) return;
    const { left, top, width } = part("stick-pad").getBoundingClientRect();
    const radius = (width / 2) * REACH;
    const [x, y] = [event.clientX - left - width / 2, event.clientY - top - width / 2];
    const length = Math.max(Math.hypot(x, y), radius);
    this.set([x / length, y / length]);
  }

  private release(): void {
    this.finger = null;
    this.up = 0;
    this.set([0, 0]);
  }

  private set(flat: [number, number]): void {
    this.flat = flat;
    const knob = part("stick-knob");
    const shift = (along: number) => `${(along * REACH * 50).toFixed(1)}px`;
    knob.style.transform = `translate(${shift(flat[0])}, ${shift(flat[1])})`;
    this.changed();
  }
}
