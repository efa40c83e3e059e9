// Findings are read completely or not at all; a spike is cut off, and a second without numbers is a gap;
// surroundings of a world are distinguished from its parts.
import { describe, expect, test } from "vitest";
import { niceCeiling, robustScale, runs } from "../src/panel/chart";
import { distanceWords } from "../src/panel/text";
import { readView } from "../src/protocol/messages";
import { isAround } from "../src/scene/surroundings";
import { Visibility } from "../src/visibility";

const FINDING = {
  kind: "touch",
  a: ["17", "18"],
  b: ["21"],
  distance: 0,
  points: [[0, 0, 0], [0, 0, 0]],
  segments: [[[0, 0, 0], [0, 1, 0]]],
};

describe("findings", () => {
  const read = (findings: unknown, more: object = {}) =>
    readView(JSON.stringify({ type: "findings", of: "check", clearance: null, unit: "mm", findings, ...more }));

  test("are read as they are sent", () => {
    const found = read([FINDING]);
    expect(found).toMatchObject({ type: "findings", of: "check", unit: "mm", complete: true });
    expect(found).toHaveProperty("findings.0.a", [17, 18]);
    expect(read([], { of: "static", complete: false })).toMatchObject({ of: "static", complete: false });
  });

  test("that are malformed give null", () => {
    for (const wrong of [
      { ...FINDING, a: [] },
      { ...FINDING, b: ["x"] },
      { ...FINDING, distance: null },
      { ...FINDING, points: [[0, 0, 0]] },
      { ...FINDING, segments: [[[0, 0], [1, 1]]] },
      7,
    ]) {
      expect(read([FINDING, wrong])).toBeNull();
    }
    expect(read("none")).toBeNull();
  });

  test("have distances with sensible digits", () => {
    expect(distanceWords(0.0040219834, "")).toBe("0.004022");
    expect(distanceWords(12.34567, "mm")).toBe("12.35 mm");
    expect(distanceWords(0, "mm")).toBe("0 mm");
  });
});

describe("the chart", () => {
  test("a_spike_does_not_flatten_the_chart", () => {
    const calm = Array.from({ length: 40 }, (_, second) => 2 + (second % 3) * 0.2);
    const scale = robustScale(calm);
    expect(robustScale([...calm, 180])).toBe(scale);
    expect(robustScale([2, 2.2, 2.1, 180])).toBeLessThan(10);
    expect(robustScale([...calm.slice(0, 26), 300, 480])).toBe(scale);
  });

  test("shows the usual values in full", () => {
    expect(robustScale([])).toBe(1);
    expect(robustScale([8])).toBe(niceCeiling(8));
    // A world that becomes slower and stays slow is not clipped for long.
    const slower = [...Array.from({ length: 30 }, () => 2), ...Array.from({ length: 30 }, () => 40)];
    expect(robustScale(slower)).toBeGreaterThanOrEqual(40);
  });

  test("has a gap for seconds without data", () => {
    expect(runs([1, 2, null, 3, 4, 5, null, null, 6])).toEqual([[0, 2], [3, 6]]);
    expect(runs([null, null])).toEqual([]);
  });
});

describe("walls", () => {
  const extent: [[number, number, number], [number, number, number]] = [[-20, -5, -20], [20, 5, 20]];
  test("are large and beyond the extent, or around all of it", () => {
    expect(isAround([[20, -5, -20], [20.5, 5, 20]], extent)).toBe(true);
    expect(isAround([[-21, -6, -21], [21, 6, 21]], extent)).toBe(true);
    expect(isAround([[-20, -5.2, -20], [20, -5, 20]], extent)).toBe(true);
  });

  test("parts of a scene are none, however large", () => {
    expect(isAround([[-15, -1, -1], [15, 1, 1]], extent)).toBe(false);
    expect(isAround([[-20, -5, -20], [20, 5, 20]], extent)).toBe(false);
    expect(isAround([[20, 0, 0], [21, 1, 1]], extent)).toBe(false);
  });
});

describe("visibility", () => {
  test("hides, isolates and shows again, and reports it to a ray query", () => {
    let changes = 0;
    const seen = new Visibility(() => changes++);
    expect([seen.isPartial, seen.asked()]).toEqual([false, {}]);
    seen.toggle(3);
    expect([seen.shows(3), seen.shows(4), seen.asked()]).toEqual([false, true, { hidden: ["3"] }]);
    seen.isolate([3, 5]);
    expect([seen.shows(3), seen.shows(4)]).toEqual([true, false]);
    expect(seen.asked()).toEqual({ only: ["3", "5"] });
    seen.isolate([3, 5]);
    expect(seen.shows(4)).toBe(true);
    seen.showAll();
    expect([seen.isPartial, changes]).toEqual([false, 4]);
  });
});
