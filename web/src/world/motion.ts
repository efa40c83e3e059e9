// Dead reckoning of a body between two updates: position + velocity × time, turned by spin × time.
// After a correction the old course is blended into the new one.

/** Numbers of one body in a store: see `Course`. */
export const COURSE_VALUES = 13;

/**
 * A course is COURSE_VALUES numbers from `at`: position, velocity, spin, rotation.
 * Writes seven numbers to `out` from `to`: position and rotation, `seconds` later.
 */
export function extrapolate(
  course: Float64Array,
  at: number,
  seconds: number,
  out: Float64Array,
  to: number,
): void {
  out[to] = course[at]! + course[at + 3]! * seconds;
  out[to + 1] = course[at + 1]! + course[at + 4]! * seconds;
  out[to + 2] = course[at + 2]! + course[at + 5]! * seconds;
  const x = course[at + 9]!;
  const y = course[at + 10]!;
  const z = course[at + 11]!;
  const w = course[at + 12]!;
  const wx = course[at + 6]!;
  const wy = course[at + 7]!;
  const wz = course[at + 8]!;
  const square = wx * wx + wy * wy + wz * wz;
  if (square === 0 || seconds === 0) {
    out[to + 3] = x;
    out[to + 4] = y;
    out[to + 5] = z;
    out[to + 6] = w;
    return;
  }
  const rate = Math.sqrt(square);
  const half = 0.5 * rate * seconds;
  const sine = Math.sin(half) / rate;
  const c = Math.cos(half);
  const [sx, sy, sz] = [wx * sine, wy * sine, wz * sine];
  // The spin is in the world's axes, so it comes after: turn × rotation.
  out[to + 3] = c * x + sx * w + sy * z - sz * y;
  out[to + 4] = c * y + sy * w + sz * x - sx * z;
  out[to + 5] = c * z + sz * w + sx * y - sy * x;
  out[to + 6] = c * w - sx * x - sy * y - sz * z;
}

/** Blends seven numbers: 0 is all `from`, 1 is all `out`. */
export function blend(
  from: Float64Array,
  at: number,
  part: number,
  out: Float64Array,
  to: number,
): void {
  for (let axis = 0; axis < 3; axis++) {
    out[to + axis] = from[at + axis]! + (out[to + axis]! - from[at + axis]!) * part;
  }
  let dot = 0;
  for (let axis = 3; axis < 7; axis++) dot += from[at + axis]! * out[to + axis]!;
  // A rotation and its negative are the same; the shorter way is taken.
  const sign = dot < 0 ? -1 : 1;
  let length = 0;
  for (let axis = 3; axis < 7; axis++) {
    const mixed = from[at + axis]! * (1 - part) * sign + out[to + axis]! * part;
    out[to + axis] = mixed;
    length += mixed * mixed;
  }
  const scale = length > 0 ? 1 / Math.sqrt(length) : 0;
  for (let axis = 3; axis < 7; axis++) out[to + axis]! *= scale;
}
