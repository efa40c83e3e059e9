// Decoder of the binary messages of /view (docs/view-protocol.md): into flat arrays, fully
// validated before use. A malformed message gives null, never half a frame.
import { idOfHalves, type Id } from "../ids";

const HEADER_BYTES = 32;
const OBJECT_BYTES = 44;
const CLOSE_HEADER_BYTES = 24;
const CLOSE_BYTES = 20;
const CLOSE_PAIRS_MAX = 4096;
/** Objects in a frame, at most: a higher number is malformed. */
const OBJECTS_MAX = 1_000_000;

/** Numbers of one object in `Frame.values`: position 3, velocity 3, spin 3, rotation 4. */
export const OBJECT_VALUES = 13;

export const CLASS_NAMES = ["immovable", "dynamic", "avatar", "absent", "foreign"] as const;
export const enum Class {
  Immovable = 0,
  Dynamic = 1,
  Avatar = 2,
  Absent = 3,
  Foreign = 4,
}

export interface Frame {
  /** A `still` frame is of a held tick. */
  kind: "frame" | "still";
  /** All objects are listed: others are removed. */
  whole: boolean;
  /** Duration of ticks relative to the nominal one. */
  dilation: number;
  tick: number;
  ids: Id[];
  /** OBJECT_VALUES numbers for each id, in metres, seconds and radians. */
  values: Float64Array;
  forms: Uint16Array;
  classes: Uint8Array;
  /** 1 if several nodes have it. */
  shared: Uint8Array;
  /**
   * For an object of another group its mark: the group's number modulo 127, plus 1; 0 if unknown.
   */
  homes: Uint8Array;
  gone: Id[];
  /** Two ids for each touching pair. */
  touching: Id[];
}

export interface ClosePairs {
  kind: "close";
  tick: number;
  metres: number;
  pairs: Id[];
  distances: Float32Array;
}

/** Decodes a binary message; null if malformed. */
export function decodeBinary(bytes: ArrayBuffer): Frame | ClosePairs | null {
  if (bytes.byteLength < CLOSE_HEADER_BYTES) return null;
  const view = new DataView(bytes);
  const kind = view.getUint8(0);
  if (kind === 1) return decodeFrame(view, "frame");
  if (kind === 3) return decodeFrame(view, "still");
  if (kind === 2) return decodeClose(view);
  return null;
}

function decodeFrame(view: DataView, kind: Frame["kind"]): Frame | null {
  if (view.byteLength < HEADER_BYTES) return null;
  const whole = view.getUint8(1);
  const count = view.getUint32(4, true);
  const gone = view.getUint32(16, true);
  const pairs = view.getUint32(20, true);
  const bytes = HEADER_BYTES + count * OBJECT_BYTES + gone * 8 + pairs * 16;
  const tick = tickAt(view, 8);
  if (whole > 1 || count > OBJECTS_MAX || bytes !== view.byteLength || tick === null) return null;
  const frame: Frame = {
    kind,
    whole: whole === 1,
    dilation: view.getUint16(2, true) / 1000,
    tick,
    ids: new Array<Id>(count),
    values: new Float64Array(count * OBJECT_VALUES),
    forms: new Uint16Array(count),
    classes: new Uint8Array(count),
    shared: new Uint8Array(count),
    homes: new Uint8Array(count),
    gone: [],
    touching: [],
  };
  for (let index = 0; index < count; index++) {
    if (!readObject(view, HEADER_BYTES + index * OBJECT_BYTES, frame, index)) return null;
  }
  const goneAt = HEADER_BYTES + count * OBJECT_BYTES;
  frame.gone = readIds(view, goneAt, gone);
  frame.touching = readIds(view, goneAt + gone * 8, pairs * 2);
  return frame;
}

/** Decodes one object; false if its rotation is invalid or its class unknown. */
function readObject(view: DataView, at: number, frame: Frame, index: number): boolean {
  frame.ids[index] = idAt(view, at);
  const { values } = frame;
  const to = index * OBJECT_VALUES;
  for (let axis = 0; axis < 3; axis++) {
    values[to + axis] = view.getInt32(at + 8 + axis * 4, true) / 4096;
    values[to + 3 + axis] = view.getInt16(at + 20 + axis * 2, true) / 256;
    values[to + 6 + axis] = view.getInt16(at + 26 + axis * 2, true) / 256;
  }
  let length = 0;
  for (let part = 0; part < 4; part++) {
    const value = view.getInt16(at + 32 + part * 2, true) / 32767;
    values[to + 9 + part] = value;
    length += value * value;
  }
  const kind = view.getUint8(at + 42);
  if (length < 0.5 || kind >= CLASS_NAMES.length) return false;
  const scale = 1 / Math.sqrt(length);
  for (let part = 9; part < 13; part++) values[to + part]! *= scale;
  frame.forms[index] = view.getUint16(at + 40, true);
  frame.classes[index] = kind;
  const last = view.getUint8(at + 43);
  frame.shared[index] = last & 1;
  frame.homes[index] = last >> 1;
  return true;
}

function decodeClose(view: DataView): ClosePairs | null {
  const count = view.getUint32(20, true);
  const tick = tickAt(view, 8);
  const metres = view.getFloat32(16, true);
  if (count > CLOSE_PAIRS_MAX || tick === null || !Number.isFinite(metres)) return null;
  if (view.byteLength !== CLOSE_HEADER_BYTES + count * CLOSE_BYTES) return null;
  const pairs: Id[] = [];
  const distances = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const at = CLOSE_HEADER_BYTES + index * CLOSE_BYTES;
    pairs.push(idAt(view, at), idAt(view, at + 8));
    distances[index] = view.getFloat32(at + 16, true);
  }
  return { kind: "close", tick, metres, pairs, distances };
}

function readIds(view: DataView, at: number, count: number): Id[] {
  const ids = new Array<Id>(count);
  for (let index = 0; index < count; index++) ids[index] = idAt(view, at + index * 8);
  return ids;
}

function idAt(view: DataView, at: number): Id {
  return idOfHalves(view.getUint32(at, true), view.getUint32(at + 4, true));
}

/** A tick that a number cannot hold exactly is malformed. */
function tickAt(view: DataView, at: number): number | null {
  const high = view.getUint32(at + 4, true);
  return high < 2 ** 21 ? high * 4294967296 + view.getUint32(at, true) : null;
}
