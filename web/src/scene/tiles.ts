// Small pictures of a mesh from many sides, made once: what a far body is drawn with. A picture holds
// the normal of the surface at each point, so that it is lit correctly.
import type { MeshData } from "../protocol/mesh";

/** Directions along each side of the octahedral map. */
export const TILES = 14;
/** Points along each side of a picture. */
export const TILE_PIXELS = 22;
export const LAYER_PIXELS = TILES * TILE_PIXELS;

type V3 = [number, number, number];

/** The direction in the middle of a tile, from the body to the camera (octahedral mapping). */
export function tileDirection(column: number, row: number): V3 {
  const x = ((column + 0.5) / TILES) * 2 - 1;
  const y = ((row + 0.5) / TILES) * 2 - 1;
  const z = 1 - Math.abs(x) - Math.abs(y);
  const fold = Math.max(-z, 0);
  return unit([x - Math.sign(x) * fold, y - Math.sign(y) * fold, z]);
}

/** Right and up in the picture of a direction; the shader has the same. */
export function tileAxes(towards: V3): [V3, V3] {
  const pole: V3 = Math.abs(towards[1]) < 0.99 ? [0, 1, 0] : [1, 0, 0];
  const right = unit(cross(pole, towards));
  return [right, cross(towards, right)];
}

/** All pictures of a mesh: LAYER_PIXELS squared times four bytes, normal and coverage. */
export function drawTiles(mesh: MeshData, radius: number): Uint8Array {
  const layer = new Uint8Array(LAYER_PIXELS * LAYER_PIXELS * 4);
  const depth = new Float32Array(TILE_PIXELS * TILE_PIXELS);
  const placed = new Float32Array(mesh.positions.length);
  const normals = facets(mesh);
  for (let row = 0; row < TILES; row++) {
    for (let column = 0; column < TILES; column++) {
      const towards = tileDirection(column, row);
      const [right, up] = tileAxes(towards);
      project(mesh.positions, [right, up, towards], radius, placed);
      depth.fill(-Infinity);
      const corner = (row * LAYER_PIXELS + column) * TILE_PIXELS;
      for (let face = 0; face < normals.length / 3; face++) {
        drawFace(mesh.triangles, placed, normals, face, towards, depth, layer, corner);
      }
    }
  }
  return layer;
}

/** Points of a picture, and depth in units of the radius. */
function project(from: Float32Array, [right, up, near]: [V3, V3, V3], size: number, to: Float32Array) {
  for (let at = 0; at < from.length; at += 3) {
    const point: V3 = [from[at]! / size, from[at + 1]! / size, from[at + 2]! / size];
    to[at] = (dot(point, right) * 0.5 + 0.5) * TILE_PIXELS;
    to[at + 1] = (dot(point, up) * 0.5 + 0.5) * TILE_PIXELS;
    to[at + 2] = dot(point, near);
  }
}

function drawFace(
  triangles: Uint32Array,
  placed: Float32Array,
  normals: Float32Array,
  face: number,
  towards: V3,
  depth: Float32Array,
  layer: Uint8Array,
  corner: number,
): void {
  const [a, b, c] = [triangles[face * 3]! * 3, triangles[face * 3 + 1]! * 3, triangles[face * 3 + 2]! * 3];
  const [ax, ay, bx, by] = [placed[a]!, placed[a + 1]!, placed[b]!, placed[b + 1]!];
  const [cx, cy] = [placed[c]!, placed[c + 1]!];
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
  if (Math.abs(area) < 1e-6) return;
  const normal: V3 = [normals[face * 3]!, normals[face * 3 + 1]!, normals[face * 3 + 2]!];
  const side = dot(normal, towards) < 0 ? -127 : 127;
  const last = TILE_PIXELS - 1;
  const lowX = Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5));
  const highX = Math.min(last, Math.floor(Math.max(ax, bx, cx) - 0.5));
  const lowY = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5));
  const highY = Math.min(last, Math.floor(Math.max(ay, by, cy) - 0.5));
  for (let y = lowY; y <= highY; y++) {
    for (let x = lowX; x <= highX; x++) {
      const [px, py] = [x + 0.5, y + 0.5];
      const u = ((px - ax) * (cy - ay) - (py - ay) * (cx - ax)) / area;
      const v = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / area;
      if (u < 0 || v < 0 || u + v > 1) continue;
      const near = placed[a + 2]! * (1 - u - v) + placed[b + 2]! * u + placed[c + 2]! * v;
      const at = y * TILE_PIXELS + x;
      if (near <= depth[at]!) continue;
      depth[at] = near;
      const to = (corner + y * LAYER_PIXELS + x) * 4;
      for (let axis = 0; axis < 3; axis++) layer[to + axis] = 128 + normal[axis]! * side;
      layer[to + 3] = 255;
    }
  }
}

/** The normal of each triangle. */
function facets({ positions, triangles }: MeshData): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let at = 0; at < triangles.length; at += 3) {
    const [a, b, c] = [0, 1, 2].map((next) => {
      const from = triangles[at + next]! * 3;
      return [positions[from]!, positions[from + 1]!, positions[from + 2]!] as V3;
    }) as [V3, V3, V3];
    normals.set(unit(cross(minus(b, a), minus(c, a))), at);
  }
  return normals;
}

function minus(a: V3, b: V3): V3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: V3, b: V3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: V3, b: V3): V3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(vector: V3): V3 {
  const length = Math.hypot(...vector);
  return length > 0 ? [vector[0] / length, vector[1] / length, vector[2] / length] : [0, 1, 0];
}
