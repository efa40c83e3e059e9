// Formatting of numbers.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Unknown or stale. */
export const UNKNOWN = "—";

export const whole = (value: number) => WHOLE.format(value);

export function milliseconds(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (value >= 10_000) return `${(value / 1000).toFixed(0)} s`;
  return value < 10 ? `${value.toFixed(1)} ms` : `${value.toFixed(0)} ms`;
}

export function bytesPerSecond(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (value < 1000) return `${value.toFixed(0)} B/s`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB/s`;
  return `${(value / 1e6).toFixed(1)} MB/s`;
}

/**
 * A distance with the digits that an engineer needs; the unit is the file's, and may be unknown.
 */
export function distanceWords(distance: number, unit: string): string {
  const digits = distance === 0 ? "0" : String(+distance.toPrecision(4));
  return unit ? `${digits} ${unit}` : digits;
}
