// How fast the page is: pictures and bytes per second; and how fast the world is, as frames tell.

const WINDOW_MS = 1000;
/** After a pause (a hidden tab) time does not jump. */
const STEP_MAX_SECONDS = 0.25;

/** Ticks per second are counted over this long. */
const TICKS_MS = 3000;

/** How fast the world goes on: counted from the frames themselves, so that it cannot be out of date. */
export class TickRate {
  private readonly ticks: [number, number][] = [];
  private since = performance.now();

  clear(): void {
    this.ticks.length = 0;
    this.since = performance.now();
  }

  /** A frame has come. */
  heard(tick: number, now: number): void {
    const last = this.ticks.at(-1);
    if (last !== undefined && tick < last[1]) this.ticks.length = 0;
    if (last?.[1] !== tick) this.since = now;
    this.ticks.push([now, tick]);
    while (now - this.ticks[0]![0] > TICKS_MS) this.ticks.shift();
  }

  /** Milliseconds since the tick last changed. */
  still(now: number): number {
    return now - this.since;
  }

  /** Ticks per second of the last seconds; null if there were no frames to count. */
  rate(now: number): number | null {
    const [first, last] = [this.ticks[0], this.ticks.at(-1)];
    if (first === undefined || last === undefined || now - last[0] > TICKS_MS) return null;
    // A world that stands counts as slow from now on, not one that is between two frames.
    const end = now - last[0] < 500 ? last[0] : now;
    const span = end - first[0];
    return span > 500 ? ((last[1] - first[1]) * 1000) / span : null;
  }
}

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
