// How fast the page is: pictures and bytes per second.

const WINDOW_MS = 1000;
/** After a pause (a hidden tab) time does not jump. */
const STEP_MAX_SECONDS = 0.25;

export class Pace {
  fps = 0;
  private readonly times: number[] = [];
  private readonly counts: [number, number][] = [];

  /** A picture is drawn. Gives the seconds since the one before. */
  frame(now: number): number {
    const before = this.times[this.times.length - 1] ?? now;
    this.times.push(now);
    while (now - this.times[0]! > WINDOW_MS) this.times.shift();
    const span = now - this.times[0]!;
    this.fps = span > 0 ? ((this.times.length - 1) * 1000) / span : 0;
    return Math.min(Math.max((now - before) / 1000, 0), STEP_MAX_SECONDS);
  }

  /** How much a growing count grew in the last second. */
  rate(count: number, now: number): number {
    this.counts.push([now, count]);
    while (this.counts.length > 2 && now - this.counts[0]![0] > WINDOW_MS) this.counts.shift();
    const [at, old] = this.counts[0]!;
    return now > at ? ((count - old) * 1000) / (now - at) : 0;
  }
}
