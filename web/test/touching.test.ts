// What touches what, by one frame: the colour of a body and its card must agree.
import { describe, expect, test } from "vitest";
import type { Frame } from "../src/protocol/frame";
import { OBJECT_VALUES } from "../src/protocol/frame";
import { Store } from "../src/world/store";

function frame(tick: number, touching: number[]): Frame {
  const ids = [1, 2, 3];
  return {
    kind: "frame",
    whole: true,
    dilation: 1,
    tick,
    ids,
    values: new Float64Array(ids.length * OBJECT_VALUES),
    forms: new Uint16Array(ids.length),
    classes: new Uint8Array(ids.length).fill(1),
    shared: new Uint8Array(ids.length),
    homes: new Uint8Array(ids.length),
    gone: [],
    touching,
  } as unknown as Frame;
}

describe("touching", () => {
  test("a body is coloured as touching exactly if the card names what it touches", () => {
    const store = new Store();
    const frames = [[], [1, 2], [1, 2, 2, 3], [1, 3], []];
    frames.forEach((touching, tick) => {
      store.take(frame(tick, touching), tick, false);
      expect(store.touchingPairs).toBe(touching.length / 2);
      for (const id of [1, 2, 3]) {
        const slot = store.slots.get(id)!;
        expect(store.touches(slot)).toBe(store.partners(id).length > 0);
      }
    });
  });

  test("partners are those of the newest frame, and a frozen picture keeps its own", () => {
    const store = new Store();
    store.take(frame(1, [1, 2, 2, 3]), 1, false);
    const still = store.still();
    expect(store.partners(2)).toEqual([1, 3]);
    store.take(frame(2, [2, 3]), 2, false);
    expect(store.partners(2)).toEqual([3]);
    expect(store.partners(1)).toEqual([]);
    expect(still.partners(2)).toEqual([1, 3]);
    expect(still.touchingPairs).toBe(2);
  });
});
