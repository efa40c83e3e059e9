// Object ids: 64 bits or text on the wire, keys of maps here. A plain number while that is exact
// (fast), a bigint beyond 2^53 (avatars). `String(id)` is the text of both.

export type Id = number | bigint;

const HIGH_EXACT = 2 ** 21;

/** An id from its two halves, as read from a frame. */
export function idOfHalves(low: number, high: number): Id {
  if (high < HIGH_EXACT) return high * 4294967296 + low;
  return (BigInt(high) << 32n) | BigInt(low);
}

/** An id from text; null if malformed. */
export function idOfText(text: unknown): Id | null {
  if (typeof text !== "string" || !/^\d{1,20}$/.test(text)) return null;
  const whole = BigInt(text);
  if (whole >= 1n << 64n) return null;
  return whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : whole;
}
