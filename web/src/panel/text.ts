// Numbers as people read them.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const whole = (value: number) => WHOLE.format(value);

export function milliseconds(value: number | null): string {
  if (value === null) return "–";
  return value < 10 ? `${value.toFixed(1)} ms` : `${value.toFixed(0)} ms`;
}

export function bytesPerSecond(value: number | null): string {
  if (value === null) return "–";
  if (value < 1000) return `${value.toFixed(0)} B/s`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB/s`;
  return `${(value / 1e6).toFixed(1)} MB/s`;
}
