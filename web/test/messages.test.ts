// JSON messages: the examples of docs/view-protocol.md are understood, anything else gives null.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { idOfText } from "../src/ids";
import { readView, type World } from "../src/protocol/messages";
import { groupMark, RegionMap } from "../src/world/regions";

const DOCUMENT = readFileSync(new URL("../../docs/view-protocol.md", import.meta.url), "utf8");
const OURS = ["hello", "pick", "select", "clearance", "hold", "release", "control", "static"];

/** Every JSON message of the document, by itself. */
function examples(): string[] {
  const blocks = [...DOCUMENT.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => match[1]!);
  return blocks.flatMap((block) => block.split(/\n(?=\{)/).map((text) => text.trim()));
}

describe("messages", () => {
  test("of the document that a server sends are decoded", () => {
    const types = new Set<string>();
    for (const text of examples()) {
      const { type } = JSON.parse(text) as { type: string };
      if (OURS.includes(type)) continue;
      types.add(type);
      expect(readView(text), text).toMatchObject({ type });
    }
    expect(types.size).toBe(11);
  });

  test("that are truncated, of another shape or of no type are rejected", () => {
    for (const text of examples()) {
      for (let length = 0; length < text.length; length += 3) {
        expect(readView(text.slice(0, length))).toBeNull();
      }
    }
    const wrong = [
      "null",
      "[]",
      "7",
      '{"type": 7}',
      '{"type": "world"}',
      '{"type": "world", "ticks_per_second": 0, "extent": [[0,0,0],[1,1,1]], "forms": []}',
      '{"type": "world", "ticks_per_second": 30, "extent": [[0,0],[1,1]], "forms": []}',
      '{"type": "regions", "group": 0, "nodes": [1], "leaves": [{"node": 1}]}',
      '{"type": "picked", "id": 17}',
      '{"type": "picked", "id": "-1"}',
      '{"type": "contacts", "id": "1", "with": [{"id": "2", "faces": [[1]]}]}',
      '{"type": "replay"}',
    ];
    for (const text of wrong) expect(readView(text), text).toBeNull();
  });

  test("of unknown types are skipped", () => {
    for (const type of ["weather", "toString", "__proto__", "constructor"]) {
      expect(readView(JSON.stringify({ type }))).toBe("unknown");
    }
  });

  test("keep the content of a world message", () => {
    const text = examples().find((one) => one.includes('"type": "world"'))!;
    const world = readView(text) as World;
    expect(world.controls).toEqual(new Set(["kill", "add", "network", "bodies"]));
    expect(world.names.get("17")).toBe("REAR_WHEEL");
    expect(world.forms[1]?.content).toBe("0123456789abcdef-3e8");
  });
});

test("ids beyond 2^53 are exact, and malformed ones are rejected", () => {
  expect(idOfText("17")).toBe(17);
  expect(idOfText("9223372037123211265")).toBe(9223372037123211265n);
  for (const text of ["", "x", "1.5", "-1", "99999999999999999999", 17, null]) {
    expect(idOfText(text)).toBeNull();
  }
});

test("a place belongs to the leaf whose lower side it is on", () => {
  const regions = new RegionMap();
  const leaf = (node: number, low: number, high: number) =>
    ({ node, min: [low, 0, 0], max: [high, 1, 1] }) as const;
  const of = (group: number, nodes: number[], leaves: ReturnType<typeof leaf>[]) =>
    ({ view: 1, leader: null, group, nodes, leaves: leaves as never });
  const followed = of(0, [1, 2], [leaf(1, 0, 5), leaf(2, 5, 9)]);
  regions.take({ type: "regions", followed, others: [] });
  expect(regions.ownerOf([5, 0, 0], 0)?.node).toBe(2);
  expect(regions.ownerOf([4.9, 0.5, 0.5], 0)?.node).toBe(1);
  expect(regions.ownerOf([9, 0, 0], 0)).toBeNull();
  // Another group divides the same space again, for its own objects.
  regions.take({ type: "regions", followed, others: [of(130, [3], [leaf(3, 0, 12)])] });
  expect(regions.nodes()).toEqual([1, 2, 3]);
  expect(groupMark(130)).toBe(4);
  expect(regions.ownerOf([5, 0, 0], 4)).toMatchObject({ node: 3, group: 130 });
  expect(regions.ownerOf([5, 0, 0], 0)).toMatchObject({ node: 2, group: 0 });
  expect(regions.ownerOf([5, 0, 0], 5)).toBeNull();
  expect(regions.ownerOf([5, 0, 0], -1)).toBeNull();
  regions.take({ type: "regions", followed, others: [] });
  expect(regions.nodes()).toEqual([1, 2]);
});
