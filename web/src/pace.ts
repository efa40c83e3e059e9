// Performance figures: frames and bytes per second, and ticks per second of the world.

const WINDOW_MS = 1000;
/** Longest time step: after a pause (a hidden tab) time does not jump. */
const STEP_MAX_SECONDS = 0.25;

/** Ticks per second are counted over this long. */
const TICKS_MS = 3000;

/** Tick rate, counted from the frames themselves, so that it is never stale. */
export class TickRate {
  private readonly ticks: [number, number][] = [];
  private since = performance.now();

  clear(): void {
    this.ticks.length = 0;
    this.since = performance.now();
  }

  /** Counts a frame. */
  observe(tick: number, now: number): void {
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
    // A stalled world counts as slow at once, but not the gap between two frames.
    const end = now - last[0] < 500 ? last[0] : now;
    const span = end - first[0];
    return span > 500 ? ((last[1] - first[1]) * 1000) / span : null;
  }
}

export class Pace {
  fps = 0;
  private readonly times: number[] = [];
  private readonly counts: [number, number][] = [];

  /** Counts a picture; returns the seconds since the last one. */
  frame(now: number): number {
    const before = this.times[this.times.length - 1] ?? now;
    this.times.push(now);
    while (now - this.times[0]! > WINDOW_MS) this.times.shift();
    const span = now - this.times[0]!;
    this.fps = span > 0 ? ((this.times.length - 1) * 1000) / span : 0;
    return Math.min(Math.max((now - before) / 1000, 0), STEP_MAX_SECONDS);
  }

  /** Growth of a counter in the last second. */
  rate(count: number, now: number): number {
    this.counts.push([now, count]);
    while (this.counts.length > 2 && now - this.counts[0]![0] > WINDOW_MS) this.counts.shift();
    const [at, old] = this.counts[0]!;
    return now > at ? ((count - old) * 1000) / (now - at) : 0;
  }
}
