// Which tick is shown now. Frames come about once a tick, but not evenly: the clock runs at the
// world's rate, a little in the past, and is led softly to what the frames say.

/** How far in the past the picture is, in ticks: enough to know where most bodies go next. */
const BEHIND_TICKS = 1.5;
/** Further off than this is a jump (a seek, a sleeping laptop), not an error to be led away. */
const JUMP_TICKS = 12;
/** How much of the error a frame takes away. */
const PULL = 0.08;
/** Without news the picture goes on for this long. */
const ALONE_SECONDS = 0.3;

export class Clock {
  /** The tick that is shown, with fractions. */
  tick = 0;
  /** The newest tick of a frame. */
  newest = -1;
  private rate = 30;
  private slowness = 1;

  /** A new world, which runs at so many ticks per second. */
  start(ticksPerSecond: number): void {
    this.rate = ticksPerSecond;
    this.slowness = 1;
    this.newest = -1;
  }

  get ticksPerSecond(): number {
    return this.rate;
  }

  /** A frame has come. True if time jumped, so that nothing should be led over. */
  heard(tick: number, dilation: number): boolean {
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

  /** Time passes. */
  advance(seconds: number, factor: number): void {
    if (this.newest < 0) return;
    this.tick += (seconds * this.rate * factor) / this.slowness;
    this.tick = Math.min(this.tick, this.newest + ALONE_SECONDS * this.rate);
  }

  /** A recording stands still: exactly this tick is shown. */
  stand(): void {
    if (this.newest >= 0) this.tick = this.newest;
  }
}
