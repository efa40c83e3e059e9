// Pictures of far bodies: the shader and the code that draws them agree on directions, and a box looks like a box.
import { expect, test } from "vitest";
import { boxMesh } from "../src/protocol/mesh";
import { isClosedOutward } from "../src/scene/geometry";
import { drawTiles, LAYER_PIXELS, TILE_PIXELS, tileAxes, tileDirection, TILES } from "../src/scene/tiles";

test("directions of tiles have length one, are all different, and axes stand upright on them", () => {
  const seen = new Set<string>();
  for (let row = 0; row < TILES; row++) {
    for (let column = 0; column < TILES; column++) {
      const towards = tileDirection(column, row);
      const [right, up] = tileAxes(towards);
      const dot = (a: number[], b: number[]) => a.reduce((sum, part, axis) => sum + part * b[axis]!, 0);
      for (const axis of [towards, right, up]) expect(dot(axis, axis)).toBeCloseTo(1, 9);
      expect(dot(right, up)).toBeCloseTo(0, 9);
      expect(dot(right, towards)).toBeCloseTo(0, 9);
      seen.add(towards.map((part) => part.toFixed(6)).join(" "));
    }
  }
  expect(seen.size).toBe(TILES * TILES);
});

test("the middle of every picture of a box shows the side that faces the viewer", () => {
  const layer = drawTiles(boxMesh([1, 1, 1]), Math.sqrt(3));
  for (let row = 0; row < TILES; row++) {
    for (let column = 0; column < TILES; column++) {
      const [x, y] = [(column + 0.5) * TILE_PIXELS, (row + 0.5) * TILE_PIXELS];
      const at = (Math.floor(y) * LAYER_PIXELS + Math.floor(x)) * 4;
      expect(layer[at + 3]).toBe(255);
      const normal = [0, 1, 2].map((axis) => (layer[at + axis]! - 128) / 127);
      const towards = tileDirection(column, row);
      const cosine = normal.reduce((sum, part, axis) => sum + part * towards[axis]!, 0);
      expect(cosine).toBeGreaterThan(0.5);
    }
  }
});

test("around a small body a picture is empty", () => {
  const layer = drawTiles(boxMesh([0.1, 0.1, 0.1]), 1);
  expect(layer[3]).toBe(0);
});

test("closed solids are distinguished from sheets and from inverted ones", () => {
  const cube = boxMesh([1, 1, 1]);
  expect(isClosedOutward(cube)).toBe(true);
  expect(isClosedOutward({ ...cube, triangles: cube.triangles.slice(0, -3) })).toBe(false);
  const turned = cube.triangles.map((_, corner) => cube.triangles[corner - (corner % 3) + 2 - (corner % 3)]!);
  expect(isClosedOutward({ ...cube, triangles: turned })).toBe(false);
});
