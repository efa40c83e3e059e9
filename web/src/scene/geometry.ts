// From a mesh as it is told to what a graphics card draws: normals with creases, and a coarse
// twin for bodies that are only a few pixels large.
import { BufferAttribute, BufferGeometry } from "three";
import type { MeshData } from "../protocol/mesh";

/** Faces that meet at less than this angle are shaded as one smooth surface. */
const SMOOTH_COSINE = Math.cos((38 * Math.PI) / 180);
/** Cells along the longest edge in which the vertices of a coarse mesh are gathered. */
const COARSE_CELLS = 4;

type Indexed = Pick<MeshData, "positions" | "triangles">;

/** A geometry with a normal for each corner; corners are shared where the surface is smooth. */
export function creased({ positions, triangles }: Indexed): BufferGeometry {
  const normals = faceNormals(positions, triangles);
  const around = trianglesOfVertices(positions.length / 3, triangles);
  const points: number[] = [];
  const directions: number[] = [];
  const corners = new Uint32Array(triangles.length);
  const made = new Map<string, number>();
  for (let corner = 0; corner < triangles.length; corner++) {
    const vertex = triangles[corner]!;
    const normal = cornerNormal(normals, around[vertex]!, Math.floor(corner / 3));
    const name = `${vertex} ${normal.map((part) => Math.round(part * 100)).join(" ")}`;
    let index = made.get(name);
    if (index === undefined) {
      index = points.length / 3;
      made.set(name, index);
      points.push(...positions.subarray(vertex * 3, vertex * 3 + 3));
      directions.push(...normal);
    }
    corners[corner] = index;
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(directions), 3));
  geometry.setIndex(new BufferAttribute(corners, 1));
  return geometry;
}

/** The mean of those faces around a vertex that are smooth with this one, as large as they are. */
function cornerNormal(normals: Float32Array, around: number[], face: number): number[] {
  const own = normals.subarray(face * 4, face * 4 + 4);
  const sum = [0, 0, 0];
  for (const other of around) {
    const at = other * 4;
    const cosine =
      own[0]! * normals[at]! + own[1]! * normals[at + 1]! + own[2]! * normals[at + 2]!;
    if (cosine < SMOOTH_COSINE) continue;
    const area = normals[at + 3]!;
    for (let axis = 0; axis < 3; axis++) sum[axis]! += normals[at + axis]! * area;
  }
  const length = Math.hypot(...sum);
  return length > 0 ? sum.map((part) => part / length) : [own[0]!, own[1]!, own[2]!];
}

/** Direction and size of each triangle. */
function faceNormals(positions: Float32Array, triangles: Uint32Array): Float32Array {
  const normals = new Float32Array((triangles.length / 3) * 4);
  for (let face = 0; face < triangles.length / 3; face++) {
    const [a, b, c] = [0, 1, 2].map((corner) => triangles[face * 3 + corner]! * 3) as [
      number,
      number,
      number,
    ];
    const u = [0, 1, 2].map((axis) => positions[b + axis]! - positions[a + axis]!);
    const v = [0, 1, 2].map((axis) => positions[c + axis]! - positions[a + axis]!);
    const cross = [
      u[1]! * v[2]! - u[2]! * v[1]!,
      u[2]! * v[0]! - u[0]! * v[2]!,
      u[0]! * v[1]! - u[1]! * v[0]!,
    ];
    const length = Math.hypot(...cross);
    const parts = length > 0 ? cross.map((part) => part / length) : [0, 1, 0];
    normals.set([...parts, length], face * 4);
  }
  return normals;
}

function trianglesOfVertices(vertices: number, triangles: Uint32Array): number[][] {
  const around: number[][] = Array.from({ length: vertices }, () => []);
  triangles.forEach((vertex, corner) => around[vertex]!.push(Math.floor(corner / 3)));
  return around;
}

/** Vertices of a cell become one, triangles that vanish are dropped. Null if that saves little. */
export function coarse({ positions, triangles }: Indexed): Indexed | null {
  const [low, size] = bounds(positions);
  const cell = Math.max(...size) / COARSE_CELLS;
  if (!(cell > 0)) return null;
  const gathered = new Map<string, { index: number; sum: number[]; count: number }>();
  const became = new Uint32Array(positions.length / 3);
  for (let vertex = 0; vertex < became.length; vertex++) {
    const place = [0, 1, 2].map((axis) => positions[vertex * 3 + axis]!);
    const name = place.map((part, axis) => Math.round((part - low[axis]!) / cell)).join(" ");
    const found = gathered.get(name) ?? { index: gathered.size, sum: [0, 0, 0], count: 0 };
    gathered.set(name, found);
    place.forEach((part, axis) => (found.sum[axis]! += part));
    found.count++;
    became[vertex] = found.index;
  }
  const kept: number[] = [];
  for (let corner = 0; corner < triangles.length; corner += 3) {
    const [a, b, c] = [0, 1, 2].map((next) => became[triangles[corner + next]!]!);
    if (a !== b && b !== c && c !== a) kept.push(a!, b!, c!);
  }
  if (kept.length === 0 || kept.length > triangles.length * 0.6) return null;
  const means = [...gathered.values()].flatMap(({ sum, count }) => sum.map((part) => part / count));
  return { positions: new Float32Array(means), triangles: new Uint32Array(kept) };
}

/** The lowest corner and the edges of the box around points. */
function bounds(positions: Float32Array): [number[], number[]] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  positions.forEach((part, index) => {
    low[index % 3] = Math.min(low[index % 3]!, part);
    high[index % 3] = Math.max(high[index % 3]!, part);
  });
  return [low, high.map((part, axis) => part - low[axis]!)];
}
