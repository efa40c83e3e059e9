// Decoder of /mesh/CONTENT: vertices, triangles, and the face of each triangle.

export interface MeshData {
  /** Three numbers for each vertex. */
  positions: Float32Array;
  /** Three vertices for each triangle. */
  triangles: Uint32Array;
  /** The face of each triangle. */
  faces: Uint32Array;
  faceCount: number;
}

const HEADER_BYTES = 16;

/** Decodes a mesh; null if malformed, or if an index or position is out of range. */
export function decodeMesh(bytes: ArrayBuffer): MeshData | null {
  if (bytes.byteLength < HEADER_BYTES) return null;
  const head = new DataView(bytes);
  const vertices = head.getUint32(0, true);
  const triangles = head.getUint32(4, true);
  const faceCount = head.getUint32(8, true);
  if (head.getUint32(12, true) !== 0) return null;
  if (bytes.byteLength !== HEADER_BYTES + vertices * 12 + triangles * 16) return null;
  // All platforms with browsers are little-endian, as the bytes are.
  const trianglesAt = HEADER_BYTES + vertices * 12;
  const mesh: MeshData = {
    positions: new Float32Array(bytes, HEADER_BYTES, vertices * 3),
    triangles: new Uint32Array(bytes, trianglesAt, triangles * 3),
    faces: new Uint32Array(bytes, trianglesAt + triangles * 12, triangles),
    faceCount,
  };
  const known = mesh.triangles.every((vertex) => vertex < vertices);
  return known && mesh.positions.every(Number.isFinite) ? mesh : null;
}

const CORNERS = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => [x, y, z])));
/** The four corners of each side of a box, anticlockwise from outside. */
const SIDES = [
  [0, 1, 3, 2],
  [4, 6, 7, 5],
  [0, 4, 5, 1],
  [2, 3, 7, 6],
  [0, 2, 6, 4],
  [1, 5, 7, 3],
];

/** A box with half its edges, as triangles. */
export function boxMesh(half: readonly [number, number, number]): MeshData {
  const positions = CORNERS.flatMap((corner) => corner.map((sign, axis) => sign * half[axis]!));
  const triangles = SIDES.flatMap(([a, b, c, d]) => [a!, b!, c!, a!, c!, d!]);
  return {
    positions: new Float32Array(positions),
    triangles: new Uint32Array(triangles),
    faces: new Uint32Array(SIDES.flatMap((_, side) => [side, side])),
    faceCount: SIDES.length,
  };
}
