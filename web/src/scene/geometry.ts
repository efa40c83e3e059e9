// Geometry for the GPU from a mesh: normals with creases.
import { BufferAttribute, BufferGeometry } from "three";
import type { MeshData } from "../protocol/mesh";

/** Faces that meet at less than this angle are shaded as one smooth surface. */
const SMOOTH_COSINE = Math.cos((38 * Math.PI) / 180);

type Indexed = Pick<MeshData, "positions" | "triangles">;

/** Larger meshes are shaded by facet: finding smooth corners takes seconds. */
const SMOOTH_TRIANGLES_MAX = 60_000;

/** A geometry with a normal for each corner; corners are shared where the surface is smooth. */
export function creased({ positions, triangles }: Indexed): BufferGeometry {
  const normals = faceNormals(positions, triangles);
  if (triangles.length > SMOOTH_TRIANGLES_MAX * 3) return faceted(positions, triangles, normals);
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

function faceted(positions: Float32Array, triangles: Uint32Array, normals: Float32Array): BufferGeometry {
  const points = new Float32Array(triangles.length * 3);
  const directions = new Float32Array(triangles.length * 3);
  for (let corner = 0; corner < triangles.length; corner++) {
    const [from, face] = [triangles[corner]! * 3, Math.floor(corner / 3) * 4];
    for (let axis = 0; axis < 3; axis++) {
      points[corner * 3 + axis] = positions[from + axis]!;
      directions[corner * 3 + axis] = normals[face + axis]!;
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points, 3));
  geometry.setAttribute("normal", new BufferAttribute(directions, 3));
  geometry.setIndex(new BufferAttribute(Uint32Array.from(triangles, (_, corner) => corner), 1));
  return geometry;
}

/** Larger meshes are not tested: they may be open. */
const CLOSED_TRIANGLES_MAX = 60_000;

/**
 * Returns true if every edge has a neighbour and faces look outwards: then the inside is never
 * visible.
 */
export function isClosedOutward({ positions, triangles }: Indexed): boolean {
  if (triangles.length > CLOSED_TRIANGLES_MAX * 3) return false;
  const vertices = positions.length / 3;
  const open = new Set<number>();
  let volume = 0;
  for (let corner = 0; corner < triangles.length; corner += 3) {
    const [a, b, c] = [triangles[corner]!, triangles[corner + 1]!, triangles[corner + 2]!];
    for (const [from, to] of [[a, b], [b, c], [c, a]] as const) {
      if (!open.delete(to * vertices + from)) open.add(from * vertices + to);
    }
    const [p, q, r] = [a * 3, b * 3, c * 3];
    volume +=
      positions[p]! * (positions[q + 1]! * positions[r + 2]! - positions[q + 2]! * positions[r + 1]!) +
      positions[p + 1]! * (positions[q + 2]! * positions[r]! - positions[q]! * positions[r + 2]!) +
      positions[p + 2]! * (positions[q]! * positions[r + 1]! - positions[q + 1]! * positions[r]!);
  }
  return open.size === 0 && volume > 0;
}

/** The area-weighted mean normal of smooth faces around a vertex. */
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
