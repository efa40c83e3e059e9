// Frames: valid ones are decoded as they were encoded; truncated, extended and random ones are rejected.
import { describe, expect, test } from "vitest";
import { decodeBinary, type Frame } from "../src/protocol/frame";
import { boxMesh, decodeMesh } from "../src/protocol/mesh";
import { closeBytes, dice, frameBytes } from "./bytes";

const AVATAR = 0x8000000010000001n;

const full = () =>
  frameBytes({
    tick: 301n,
    whole: false,
    dilation: 1500,
    objects: [
      { id: 1n, position: [1.5, -2.25, 1000], velocity: [1, 0, -0.5], spin: [0, 1.5, 0], form: 3 },
      { id: AVATAR, rotation: [0, 0.6, 0, 0.8], kind: 2, shared: 1 },
    ],
    gone: [7n, 2n ** 53n + 1n],
    touching: [[1n, AVATAR]],
  });

describe("a frame", () => {
  test("is decoded as it was encoded", () => {
    const frame = decodeBinary(full()) as Frame;
    expect(frame).toMatchObject({ kind: "frame", whole: false, dilation: 1.5, tick: 301 });
    expect(frame.ids).toEqual([1, AVATAR]);
    expect([...frame.values.subarray(0, 9)]).toEqual([1.5, -2.25, 1000, 1, 0, -0.5, 0, 1.5, 0]);
    expect(frame.values[9 + 13 + 1]).toBeCloseTo(0.6, 3);
    expect(Math.hypot(...frame.values.subarray(22, 26))).toBeCloseTo(1, 12);
    expect([...frame.forms]).toEqual([3, 0]);
    expect([...frame.classes]).toEqual([1, 2]);
    expect([...frame.shared]).toEqual([0, 1]);
    expect(frame.gone).toEqual([7, 2n ** 53n + 1n]);
    expect(frame.touching).toEqual([1, AVATAR]);
  });

  test("truncated anywhere, or with a byte too many, is rejected", () => {
    const bytes = full();
    for (let length = 0; length < bytes.byteLength; length++) {
      expect(decodeBinary(bytes.slice(0, length)), `${length} bytes`).toBeNull();
    }
    const longer = new Uint8Array(bytes.byteLength + 1);
    longer.set(new Uint8Array(bytes));
    expect(decodeBinary(longer.buffer)).toBeNull();
  });

  test("with counts that do not fit is rejected, however large", () => {
    for (const at of [4, 16, 20]) {
      for (const count of [3, 0xffff, 0xffffffff]) {
        const bytes = full();
        new DataView(bytes).setUint32(at, count, true);
        expect(decodeBinary(bytes)).toBeNull();
      }
    }
  });

  test("with an unknown class, no rotation or an infinite tick is rejected", () => {
    const broken = (change: (view: DataView) => void) => {
      const bytes = full();
      change(new DataView(bytes));
      return decodeBinary(bytes);
    };
    expect(broken((view) => view.setUint8(32 + 42, 9))).toBeNull();
    expect(broken((view) => view.setBigUint64(32 + 32, 0n, true))).toBeNull();
    expect(broken((view) => view.setBigUint64(8, 2n ** 60n, true))).toBeNull();
    expect(broken((view) => view.setUint8(1, 2))).toBeNull();
    expect(broken((view) => view.setUint8(0, 4))).toBeNull();
  });

  test("of random bytes gives null or a frame with finite numbers", () => {
    const seed = 11;
    const roll = dice(seed);
    let frames = 0;
    for (let round = 0; round < 20_000; round++) {
      const bytes = new Uint8Array(full());
      for (let change = 0; change < 4; change++) {
        bytes[Math.floor(roll() * bytes.length)] = Math.floor(roll() * 256);
      }
      const message = decodeBinary(bytes.buffer);
      if (message?.kind !== "frame") continue;
      frames++;
      expect(message.values.every(Number.isFinite), `seed ${seed}, round ${round}`).toBe(true);
    }
    expect(frames).toBeGreaterThan(100);
    expect(frames).toBeLessThan(20_000);
  });
});

describe("pairs that are too close", () => {
  test("are decoded as they were encoded", () => {
    const close = decodeBinary(closeBytes([[1n, AVATAR, 0.25]]));
    expect(close).toMatchObject({ kind: "close", tick: 5, metres: 0.5, pairs: [1, AVATAR] });
  });

  test("are rejected if truncated or too many", () => {
    const bytes = closeBytes([[1n, 2n, 0.25]]);
    for (let length = 0; length < bytes.byteLength; length++) {
      expect(decodeBinary(bytes.slice(0, length))).toBeNull();
    }
    const many = closeBytes(new Array(4097).fill([1n, 2n, 0.1]));
    expect(decodeBinary(many)).toBeNull();
  });
});

describe("a mesh", () => {
  const bytes = () => {
    const made = new ArrayBuffer(16 + 3 * 12 + 16);
    new Uint32Array(made, 0, 4).set([3, 1, 1, 0]);
    new Float32Array(made, 16, 9).set([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    new Uint32Array(made, 52, 4).set([0, 1, 2, 0]);
    return made;
  };

  test("is decoded as it was encoded", () => {
    const mesh = decodeMesh(bytes());
    expect([...(mesh?.triangles ?? [])]).toEqual([0, 1, 2]);
    expect(mesh?.faceCount).toBe(1);
  });

  test("that is truncated, or has an index or position out of range, is rejected", () => {
    for (let length = 0; length < bytes().byteLength; length++) {
      expect(decodeMesh(bytes().slice(0, length))).toBeNull();
    }
    const wrong = (change: (words: Uint32Array, floats: Float32Array) => void) => {
      const made = bytes();
      change(new Uint32Array(made), new Float32Array(made));
      return decodeMesh(made);
    };
    expect(wrong((words) => (words[13] = 3))).toBeNull();
    expect(wrong((_, floats) => (floats[4] = NaN))).toBeNull();
    expect(wrong((words) => (words[0] = 0xffffffff))).toBeNull();
    expect(wrong((words) => (words[3] = 1))).toBeNull();
  });

  test("of a box looks outwards everywhere", () => {
    const { positions, triangles } = boxMesh([1, 2, 3]);
    for (let at = 0; at < triangles.length; at += 3) {
      const [a, b, c] = [0, 1, 2].map((next) => {
        const from = triangles[at + next]! * 3;
        return [...positions.subarray(from, from + 3)] as number[];
      }) as [number[], number[], number[]];
      const u = b.map((part, axis) => part - a[axis]!);
      const v = c.map((part, axis) => part - a[axis]!);
      const normal = [0, 1, 2].map(
        (axis) =>
          u[(axis + 1) % 3]! * v[(axis + 2) % 3]! - u[(axis + 2) % 3]! * v[(axis + 1) % 3]!,
      );
      const outwards = normal.reduce((sum, part, axis) => sum + part * a[axis]!, 0);
      expect(outwards).toBeGreaterThan(0);
    }
  });
});
