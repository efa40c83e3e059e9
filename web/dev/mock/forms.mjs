// Shapes of the mock's hall: boxes, a ball, a ring, an avatar, walls; meshes in the format of /mesh/CONTENT.

export const EXTENT = [[-40, -6, -40], [40, 6, 40]];

function ball(radius, rings, parts) {
  const positions = [[0, radius, 0]];
  for (let ring = 1; ring < rings; ring++) {
    for (let part = 0; part < parts; part++) {
      const [a, b] = [(Math.PI * ring) / rings, (2 * Math.PI * part) / parts];
      const flat = radius * Math.sin(a);
      positions.push([flat * Math.cos(b), radius * Math.cos(a), flat * Math.sin(b)]);
    }
  }
  positions.push([0, -radius, 0]);
  const at = (ring, part) => 1 + (ring - 1) * parts + (part % parts);
  const triangles = [];
  for (let part = 0; part < parts; part++) {
    triangles.push([0, at(1, part + 1), at(1, part)]);
    triangles.push([positions.length - 1, at(rings - 1, part), at(rings - 1, part + 1)]);
    for (let ring = 1; ring < rings - 1; ring++) {
      const [a, b] = [at(ring, part), at(ring, part + 1)];
      const [c, d] = [at(ring + 1, part), at(ring + 1, part + 1)];
      triangles.push([a, b, c], [b, d, c]);
    }
  }
  return { positions, triangles };
}

function ring(radius, thickness, around, across) {
  const positions = [];
  for (let one = 0; one < around; one++) {
    for (let two = 0; two < across; two++) {
      const [a, b] = [(2 * Math.PI * one) / around, (2 * Math.PI * two) / across];
      const out = radius + thickness * Math.cos(b);
      positions.push([out * Math.cos(a), thickness * Math.sin(b), out * Math.sin(a)]);
    }
  }
  const at = (one, two) => (one % around) * across + (two % across);
  const triangles = [];
  for (let one = 0; one < around; one++) {
    for (let two = 0; two < across; two++) {
      const [a, b] = [at(one, two), at(one, two + 1)];
      const [c, d] = [at(one + 1, two), at(one + 1, two + 1)];
      triangles.push([a, b, c], [b, d, c]);
    }
  }
  return { positions, triangles };
}

function meshBytes({ positions, triangles }) {
  const bytes = Buffer.alloc(16 + positions.length * 12 + triangles.length * 16);
  bytes.writeUInt32LE(positions.length, 0);
  bytes.writeUInt32LE(triangles.length, 4);
  bytes.writeUInt32LE(triangles.length, 8);
  let at = 16;
  for (const part of positions.flat()) at = bytes.writeFloatLE(part, at);
  for (const corner of triangles.flat()) at = bytes.writeUInt32LE(corner, at);
  triangles.forEach((_, face) => (at = bytes.writeUInt32LE(face, at)));
  return bytes;
}

const BALL = ball(0.35, 8, 12);
const RING = ring(0.45, 0.14, 16, 8);
const AVATAR = ball(0.5, 10, 16);

export const MESHES = new Map([
  ["0000000000ba1100-1", meshBytes(BALL)],
  ["0000000000120900-1", meshBytes(RING)],
  ["0000000000a7a700-1", meshBytes(AVATAR)],
]);

/** The radius of a ball of similar size, for collisions and picks. */
export const FORMS = [
  { half: [0.35, 0.35, 0.35], content: null, radius: 0.42, faces: 6 },
  { half: [0.25, 0.5, 0.2], content: null, radius: 0.42, faces: 6 },
  { half: [0.35, 0.35, 0.35], content: "0000000000ba1100-1", radius: 0.35, faces: BALL.triangles.length },
  { half: [0.59, 0.14, 0.59], content: "0000000000120900-1", radius: 0.5, faces: RING.triangles.length },
  { half: [0.5, 0.5, 0.5], content: "0000000000a7a700-1", radius: 0.5, faces: AVATAR.triangles.length },
  { half: [0.5, 6, 40], content: null, radius: 0, faces: 6 },
  { half: [40, 6, 0.5], content: null, radius: 0, faces: 6 },
  { half: [40, 0.5, 40], content: null, radius: 0, faces: 6 },
  { half: [1.5, 6, 1.5], content: null, radius: 0, faces: 6 },
];
export const AVATAR_FORM = 4;
