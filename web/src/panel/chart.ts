// Milliseconds per tick by stage, stacked, over the last minute. The scale follows the usual
// values: a spike is clipped and marked, and does not flatten the rest. A second without data is a
// gap.
import { stageColour } from "../colours";
import { make } from "../dom";

const SECONDS = 60;
/** The fraction of seconds that fits into the chart; higher ones are clipped. */
const USUAL_PART = 0.9;
/** Values up to this multiple of that height still fit. */
const HEADROOM = 1.3;

/** Labels of stages. */
const STAGE_WORDS: Readonly<Record<string, string>> = { bundles: "exchange" };

/** A second: milliseconds by stage, or null without data. */
type Second = number[] | null;

export class Chart {
  private readonly names: string[] = [];
  private readonly history: Second[] = [];
  private scale = 1;
  /** Clipped seconds, for tests. */
  clipped = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly legend: HTMLElement,
  ) {
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  clear(): void {
    this.history.length = 0;
    this.draw();
  }

  /** Adds the last second; null without data. */
  push(stages: ReadonlyMap<string, number> | null): void {
    if (stages === null && this.history.every((second) => second === null)) return;
    for (const name of stages?.keys() ?? []) if (!this.names.includes(name)) this.addName(name);
    this.history.push(stages && this.names.map((name) => stages.get(name) ?? 0));
    if (this.history.length > SECONDS) this.history.shift();
    this.draw();
  }

  private addName(name: string): void {
    const item = make("li");
    const dot = make("i", "dot");
    dot.style.background = stageColour(this.names.length);
    item.append(dot, STAGE_WORDS[name] ?? name);
    this.legend.append(item);
    this.names.push(name);
  }

  private draw(): void {
    const { canvas } = this;
    const ratio = window.devicePixelRatio;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (width === 0) return;
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    if (!pen) return;
    const sums = this.history.map((second) => second && second.reduce((sum, value) => sum + value, 0));
    this.scale = robustScale(sums.filter((sum) => sum !== null));
    const style = getComputedStyle(canvas);
    this.drawLines(pen, width, height, style.getPropertyValue("--line"), style.color);
    for (const [from, to] of runs(sums)) this.drawRun(pen, width, height, from, to);
    this.drawClipped(pen, width, sums);
  }

  private x(second: number, width: number): number {
    return width - ((this.history.length - 1 - second) / (SECONDS - 1)) * width;
  }

  /** Draws consecutive seconds without a gap. */
  private drawRun(pen: CanvasRenderingContext2D, width: number, height: number, from: number, to: number): void {
    const run = this.history.slice(from, to) as number[][];
    const y = (value: number) => height - Math.min(value / this.scale, 1) * height;
    const base = run.map(() => 0);
    this.names.forEach((_, stage) => {
      const top = base.map((sum, index) => sum + (run[index]![stage] ?? 0));
      pen.beginPath();
      top.forEach((value, index) => pen.lineTo(this.x(from + index, width), y(value)));
      for (let index = base.length - 1; index >= 0; index--) {
        pen.lineTo(this.x(from + index, width), y(base[index]!));
      }
      pen.closePath();
      pen.globalAlpha = 0.85;
      pen.fillStyle = stageColour(stage);
      pen.fill();
      pen.globalAlpha = 1;
      top.forEach((sum, index) => (base[index] = sum));
    });
  }

  /** Marks clipped seconds, with the height of the highest. */
  private drawClipped(pen: CanvasRenderingContext2D, width: number, sums: (number | null)[]): void {
    const ratio = window.devicePixelRatio;
    const high = sums.flatMap((sum, second) => (sum !== null && sum > this.scale ? [{ sum, second }] : []));
    this.clipped = high.length;
    if (high.length === 0) return;
    pen.fillStyle = CLIPPED;
    for (const { second } of high) {
      const x = this.x(second, width);
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x - 4 * ratio, 7 * ratio);
      pen.lineTo(x + 4 * ratio, 7 * ratio);
      pen.closePath();
      pen.fill();
    }
    const highest = high.reduce((best, one) => (one.sum > best.sum ? one : best));
    const words = `${+highest.sum.toPrecision(2)} ms`;
    pen.font = `${10 * ratio}px system-ui, sans-serif`;
    const [x, wide] = [this.x(highest.second, width), pen.measureText(words).width];
    const right = x + 7 * ratio + wide < width;
    pen.fillText(words, right ? x + 7 * ratio : x - 7 * ratio - wide, 9 * ratio);
  }

  private drawLines(
    pen: CanvasRenderingContext2D,
    width: number,
    height: number,
    line: string,
    ink: string,
  ): void {
    const ratio = window.devicePixelRatio;
    pen.strokeStyle = line;
    pen.fillStyle = ink;
    pen.lineWidth = ratio;
    pen.font = `${10 * ratio}px system-ui, sans-serif`;
    for (const part of [0.5, 1]) {
      const y = Math.round(height * (1 - part)) + ratio / 2;
      pen.beginPath();
      pen.moveTo(0, y);
      pen.lineTo(width, y);
      pen.stroke();
      pen.fillText(`${+(this.scale * part).toPrecision(2)} ms`, 2 * ratio, y + 11 * ratio);
    }
  }
}

const CLIPPED = "#e5383b";

/** Ranges of consecutive seconds with data. */
export function runs(sums: readonly (number | null)[]): [number, number][] {
  const found: [number, number][] = [];
  sums.forEach((sum, second) => {
    if (sum === null) return;
    const last = found.at(-1);
    if (last && last[1] === second) last[1]++;
    else found.push([second, second + 1]);
  });
  return found.filter(([from, to]) => to - from > 1);
}

/** The height of the chart: that of nearly all seconds, ignoring the highest few. */
export function robustScale(sums: readonly number[]): number {
  if (sums.length === 0) return 1;
  const sorted = [...sums].sort((a, b) => a - b);
  const highest = sorted.at(-1)!;
  // In a short history the last few percent are less than one second: one spike is still clipped.
  const place = Math.min(Math.ceil(sorted.length * USUAL_PART), sorted.length - 1) - 1;
  const usual = sorted[Math.max(place, 0)]! * HEADROOM;
  return niceCeiling(Math.max(Math.min(usual, highest), 0.5));
}

/** The smallest of 1, 2, 5, 10, 20… that is not below. */
export function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
