// Milliseconds per tick by stage, stacked, over the last minute.
import { stageColour } from "../colours";
import { make } from "../dom";

const SECONDS = 60;

export class Chart {
  private readonly names: string[] = [];
  private readonly history: number[][] = [];
  private scale = 1;

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

  /** What the last second was like. */
  push(stages: ReadonlyMap<string, number>): void {
    if (stages.size === 0 && this.names.length === 0) return;
    for (const name of stages.keys()) if (!this.names.includes(name)) this.addName(name);
    this.history.push(this.names.map((name) => stages.get(name) ?? 0));
    if (this.history.length > SECONDS) this.history.shift();
    this.draw();
  }

  private addName(name: string): void {
    const item = make("li");
    const dot = make("i", "dot");
    dot.style.background = stageColour(this.names.length);
    item.append(dot, name);
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
    const sums = this.history.map((row) => row.reduce((sum, value) => sum + value, 0));
    this.scale = niceCeiling(Math.max(...sums, 0.5));
    const style = getComputedStyle(canvas);
    this.drawLines(pen, width, height, style.getPropertyValue("--line"), style.color);
    const base = this.history.map(() => 0);
    this.names.forEach((_, stage) => {
      const top = base.map((sum, second) => sum + (this.history[second]![stage] ?? 0));
      this.drawBand(pen, width, height, base, top, stageColour(stage));
      top.forEach((sum, second) => (base[second] = sum));
    });
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

  private drawBand(
    pen: CanvasRenderingContext2D,
    width: number,
    height: number,
    base: number[],
    top: number[],
    colour: string,
  ): void {
    if (top.length < 2) return;
    const x = (second: number) => width - ((top.length - 1 - second) / (SECONDS - 1)) * width;
    const y = (value: number) => height - (value / this.scale) * height;
    pen.beginPath();
    top.forEach((value, second) => pen.lineTo(x(second), y(value)));
    for (let second = base.length - 1; second >= 0; second--) pen.lineTo(x(second), y(base[second]!));
    pen.closePath();
    pen.globalAlpha = 0.85;
    pen.fillStyle = colour;
    pen.fill();
    pen.globalAlpha = 1;
  }
}

/** The next of 1, 2, 5, 10, 20… that is not below. */
export function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
