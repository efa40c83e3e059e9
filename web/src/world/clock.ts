// The display clock. Frames arrive about once a tick, but not evenly: the clock runs at the world's
// rate, a little in the past, and is adjusted smoothly to the frames.

/** Display delay in ticks: enough to know the next state of most bodies. */
const BEHIND_TICKS = 1.5;
/** A larger difference is a jump (a seek, a sleeping laptop), not an error to smooth. */
const JUMP_TICKS = 12;
/** The part of the error that a frame corrects. */
const PULL = 0.08;
/** Longest extrapolation without frames. */
const ALONE_SECONDS = 0.3;

export class Clock {
  /** The displayed tick, with fractions. */
  tick = 0;
  /** The newest tick of a frame. */
  newest = -1;
  private rate = 30;
  private slowness = 1;

  /** A new world with this tick rate. */
  start(ticksPerSecond: number): void {
    this.rate = ticksPerSecond;
    this.slowness = 1;
    this.newest = -1;
  }

  get ticksPerSecond(): number {
    return this.rate;
  }

  /** Adjusts to a frame. Returns true if time jumped, so that nothing should be blended. */
  observe(tick: number, dilation: number): boolean {
    const backwards = tick < this.newest;
    const first = this.newest < 0;
    this.newest = tick;
    this.slowness = dilation > 0 ? dilation : 1;
    const error = tick - BEHIND_TICKS - this.tick;
    if (first || backwards || Math.abs(error) > JUMP_TICKS) {
      this.tick = tick;
      return true;
    }
    this.tick += error * PULL;
    return false;
  }

  /** Advances the clock. */
  advance(seconds: number, factor: number): void {
    if (this.newest < 0) return;
    this.tick += (seconds * this.rate * factor) / this.slowness;
    this.tick = Math.min(this.tick, this.newest + ALONE_SECONDS * this.rate);
  }

  /** A paused recording: exactly this tick is shown. */
  stand(): void {
    if (this.newest >= 0) this.tick = this.newest;
  }
}
