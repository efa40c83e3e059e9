// Bodies between two updates: dead reckoning, and blending into a corrected course.
import { describe, expect, test } from "vitest";
import { decodeBinary, type Frame } from "../src/protocol/frame";
import { Clock } from "../src/world/clock";
import { blend, extrapolate } from "../src/world/motion";
import { POSE_VALUES, Store } from "../src/world/store";
import { frameBytes, type FrameParts } from "./bytes";

const frame = (parts: FrameParts) => decodeBinary(frameBytes(parts)) as Frame;
const pose = (store: Store, id: number) => {
  const at = store.slots.get(id)! * POSE_VALUES;
  return [...store.poses.subarray(at, at + POSE_VALUES)];
};

describe("a course", () => {
  test("moves by its velocity", () => {
    const out = new Float64Array(7);
    const course = new Float64Array([1, 2, 3, 0.5, 0, -1, 0, 0, 0, 0, 0, 0, 1]);
    extrapolate(course, 0, 2, out, 0);
    expect([...out]).toEqual([2, 2, 1, 0, 0, 0, 1]);
  });

  test("turns by its spin, in the world's axes", () => {
    const half = Math.SQRT1_2;
    // Turned by a quarter about x already; then a quarter turn about the world's y.
    const course = new Float64Array([0, 0, 0, 0, 0, 0, 0, Math.PI / 2, 0, half, 0, 0, half]);
    const out = new Float64Array(7);
    extrapolate(course, 0, 1, out, 0);
    const expected = [0.5, 0.5, -0.5, 0.5];
    expected.forEach((part, axis) => expect(out[3 + axis]).toBeCloseTo(part, 12));
  });

  test("keeps the length of its rotation for hours", () => {
    const course = new Float64Array([0, 0, 0, 0, 0, 0, 3, -2, 1, 0, 0, 0, 1]);
    const out = new Float64Array(7);
    extrapolate(course, 0, 10_000, out, 0);
    expect(Math.hypot(...out.subarray(3))).toBeCloseTo(1, 9);
  });

  test("is blended over the short way, also between a rotation and its negative", () => {
    const out = new Float64Array([2, 0, 0, 0, 0, 0, -1]);
    blend(new Float64Array([0, 0, 0, 0, 0, 0, 1]), 0, 0.5, out, 0);
    expect(out[0]).toBe(1);
    expect(Math.abs(out[6]!)).toBeCloseTo(1, 12);
  });
});

describe("a store", () => {
  const moving = { id: 5n, position: [0, 0, 0], velocity: [3, 0, 0] } as const;
  const encoded = (tick: bigint, x: number, whole = false) =>
    frame({ tick, whole, objects: [{ ...moving, position: [x, 0, 0], velocity: [3, 0, 0] }] });

  test("moves what is not listed", () => {
    const store = new Store();
    store.take(encoded(30n, 0, true), 30, true);
    store.take(frame({ tick: 31n, whole: false }), 30, false);
    store.show(60, 30);
    expect(pose(store, 5)[0]).toBeCloseTo(3, 9);
  });

  test("does not jump when an update differs, and converges", () => {
    const store = new Store();
    store.take(encoded(30n, 0, true), 30, true);
    store.show(31, 30);
    const before = pose(store, 5)[0]!;
    store.take(encoded(32n, 1), 31, false);
    store.show(31, 30);
    expect(pose(store, 5)[0]).toBeCloseTo(before, 9);
    store.show(32, 30);
    expect(pose(store, 5)[0]).toBeCloseTo(1, 9);
    store.show(33, 30);
    expect(pose(store, 5)[0]).toBeCloseTo(1.1, 9);
  });

  test("jumps without blending when time jumped", () => {
    const store = new Store();
    store.take(encoded(30n, 0, true), 30, true);
    store.take(encoded(500n, 7), 500, true);
    store.show(500, 30);
    expect(pose(store, 5)[0]).toBeCloseTo(7, 9);
  });

  test("removes what a whole frame does not list, and what is gone", () => {
    const store = new Store();
    store.take(frame({ objects: [{ id: 1n }, { id: 2n }, { id: 3n }] }), 1, true);
    store.take(frame({ tick: 2n, whole: false, gone: [2n, 99n] }), 1, false);
    expect([...store.slots.keys()]).toEqual([1, 3]);
    store.take(frame({ tick: 3n, objects: [{ id: 3n }, { id: 4n }] }), 2, false);
    expect([...store.slots.keys()].sort()).toEqual([3, 4]);
    expect(store.count).toBe(2);
  });

  test("has the touching pairs of the newest frame only", () => {
    const store = new Store();
    store.take(frame({ objects: [{ id: 1n }, { id: 2n }], touching: [[1n, 2n]] }), 1, true);
    const slot = store.slots.get(1)!;
    expect(store.touches(slot)).toBe(true);
    store.take(frame({ tick: 2n, whole: false, touching: [[2n, 77n]] }), 1, false);
    expect(store.touches(slot)).toBe(false);
    expect(store.touchingPairs).toBe(1);
  });

  test("grows to many bodies, and a still picture stays as it is", () => {
    const store = new Store();
    const objects = Array.from({ length: 3000 }, (_, index) => ({
      id: BigInt(index),
      position: [index, 0, 0] as [number, number, number],
    }));
    store.take(frame({ objects }), 1, true);
    store.show(1, 30);
    const still = store.still();
    store.take(frame({ tick: 2n, objects: [{ id: 2999n, position: [1, 1, 1] }] }), 1, false);
    expect(store.count).toBe(1);
    expect(still.count).toBe(3000);
    expect(pose(still, 2999)[0]).toBe(2999);
  });
});

describe("a clock", () => {
  test("runs at the world's rate, a little behind, and follows", () => {
    const clock = new Clock();
    clock.start(30);
    expect(clock.observe(100, 1)).toBe(true);
    for (let tick = 101; tick < 200; tick++) {
      clock.advance(1 / 30, 1);
      expect(clock.observe(tick, 1)).toBe(false);
    }
    expect(199 - clock.tick).toBeGreaterThan(0.5);
    expect(199 - clock.tick).toBeLessThan(3);
  });

  test("jumps back with a recording, and stops extrapolating without updates", () => {
    const clock = new Clock();
    clock.start(30);
    clock.observe(100, 1);
    expect(clock.observe(40, 1)).toBe(true);
    expect(clock.tick).toBe(40);
    for (let second = 0; second < 100; second++) clock.advance(1, 1);
    expect(clock.tick).toBeLessThan(60);
  });
});
