// Frames for the tests, in the format of docs/view-protocol.md.

export interface SentObject {
  id: bigint;
  position?: [number, number, number];
  velocity?: [number, number, number];
  spin?: [number, number, number];
  rotation?: [number, number, number, number];
  form?: number;
  kind?: number;
  shared?: number;
}

export interface FrameParts {
  tick?: bigint;
  whole?: boolean;
  dilation?: number;
  objects?: SentObject[];
  gone?: bigint[];
  touching?: [bigint, bigint][];
}

export function frameBytes(parts: FrameParts): ArrayBuffer {
  const { tick = 1n, whole = true, dilation = 1000 } = parts;
  const { objects = [], gone = [], touching = [] } = parts;
  const bytes = new ArrayBuffer(32 + objects.length * 44 + gone.length * 8 + touching.length * 16);
  const view = new DataView(bytes);
  view.setUint8(0, 1);
  view.setUint8(1, whole ? 1 : 0);
  view.setUint16(2, dilation, true);
  view.setUint32(4, objects.length, true);
  view.setBigUint64(8, tick, true);
  view.setUint32(16, gone.length, true);
  view.setUint32(20, touching.length, true);
  let at = 32;
  for (const one of objects) {
    writeObject(view, at, one);
    at += 44;
  }
  for (const id of [...gone, ...touching.flat()]) {
    view.setBigUint64(at, id, true);
    at += 8;
  }
  return bytes;
}

function writeObject(view: DataView, at: number, one: SentObject): void {
  view.setBigUint64(at, one.id, true);
  const { position = [0, 0, 0], velocity = [0, 0, 0], spin = [0, 0, 0] } = one;
  position.forEach((part, axis) => view.setInt32(at + 8 + axis * 4, part * 4096, true));
  velocity.forEach((part, axis) => view.setInt16(at + 20 + axis * 2, part * 256, true));
  spin.forEach((part, axis) => view.setInt16(at + 26 + axis * 2, part * 256, true));
  const { rotation = [0, 0, 0, 1] } = one;
  rotation.forEach((part, axis) => view.setInt16(at + 32 + axis * 2, part * 32767, true));
  view.setUint16(at + 40, one.form ?? 0, true);
  view.setUint8(at + 42, one.kind ?? 1);
  view.setUint8(at + 43, one.shared ?? 0);
}

export function closeBytes(pairs: [bigint, bigint, number][], metres = 0.5): ArrayBuffer {
  const bytes = new ArrayBuffer(24 + pairs.length * 20);
  const view = new DataView(bytes);
  view.setUint8(0, 2);
  view.setBigUint64(8, 5n, true);
  view.setFloat32(16, metres, true);
  view.setUint32(20, pairs.length, true);
  pairs.forEach(([a, b, apart], index) => {
    view.setBigUint64(24 + index * 20, a, true);
    view.setBigUint64(32 + index * 20, b, true);
    view.setFloat32(40 + index * 20, apart, true);
  });
  return bytes;
}

/** A small seeded random number generator. */
export function dice(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
