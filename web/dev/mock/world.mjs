// The mock's hall: bodies that bounce off walls and each other (as balls), avatars, four nodes with
// regions. A simplified world, sufficient to develop and test the page.
import { AVATAR_FORM, EXTENT, FORMS } from "./forms.mjs";

export const RATE = 30;
const AVATAR_IDS = 0x8000000010000000n;
const INSIDE = 0.5;
/** A group besides the first, and its only node. */
export const GROUP = 3;
export const GROUP_NODE = 9;

/** A small seeded random number generator: every start is the same. */
function dice(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class World {
  tick = 0;
  objects = new Map();
  gone = [];
  touching = [];
  begins = 0;
  pairsTested = 0;
  nodes = [1, 2, 3, 4];
  leaves = [];
  regionsView = 1;
  network = { delay_ms: 0, loss: 0 };
  #nextId = 100;
  #nextNode = 5;
  #nextAvatar = 1n;
  #roll = dice(7);
  #before = new Set();

  constructor(bodies) {
    this.#walls();
    this.setBodies(bodies);
    const [[x0, y0, z0], [x1, y1, z1]] = EXTENT;
    const outer = 1;
    const leaf = (node, a, b, c, d) => ({
      node,
      min: [a, y0 - outer, b],
      max: [c, y1 + outer, d],
    });
    this.leaves = [
      leaf(1, x0 - outer, z0 - outer, 4, -6),
      leaf(2, x0 - outer, -6, 4, z1 + outer),
      leaf(3, 4, z0 - outer, x1 + outer, 9),
      leaf(4, 4, 9, x1 + outer, z1 + outer),
    ];
  }

  #walls() {
    const wall = (form, position) => this.#put({ form, position, kind: 0 });
    wall(5, [-40.5, 0, 0]);
    wall(5, [40.5, 0, 0]);
    wall(6, [0, 0, -40.5]);
    wall(6, [0, 0, 40.5]);
    wall(7, [0, -6.5, 0]);
    wall(7, [0, 6.5, 0]);
    // Two resting bodies that touch, so that there is a contact to show.
    for (const x of [0, 0.6]) this.#put({ form: 2, position: [x, 3, 20], kind: 1 }).resting = true;
    for (const [x, z] of [[-20, -20], [20, -20], [-20, 20], [20, 20]]) wall(8, [x, 0, z]);
  }

  #put({ form, position, kind, id = this.#nextId++, velocity = [0, 0, 0], spin = [0, 0, 0] }) {
    const object = {
      id,
      form,
      kind,
      position,
      velocity,
      spin,
      rotation: [0, 0, 0, 1],
      fresh: true,
      changed: true,
    };
    this.objects.set(id, object);
    return object;
  }

  get bodies() {
    return [...this.objects.values()].filter((one) => one.kind === 1 && !one.resting).length;
  }

  setBodies(count) {
    const now = [...this.objects.values()].filter((one) => one.kind === 1 && !one.resting);
    for (const extra of now.slice(count)) this.remove(extra.id);
    const draw = (size) => (this.#roll() * 2 - 1) * size;
    for (let more = now.length; more < count; more++) {
      this.#put({
        form: Math.floor(this.#roll() * 4),
        position: [draw(38), draw(5), draw(38)],
        velocity: [draw(4), draw(1.5), draw(4)],
        spin: [draw(3), draw(3), draw(3)],
        kind: 1,
      });
    }
  }

  /** A second group: it divides the same space again, and has a dozen bodies of its own. */
  addGroup() {
    for (let body = 0; body < 12; body++) {
      const position = [-30 + 5 * body, 4, 30];
      this.#put({ form: 3, position, velocity: [1, 0, -1], kind: 4 }).group = GROUP;
    }
  }

  otherGroup() {
    const leaf = { node: GROUP_NODE, min: [-41, -7, -41], max: [41, 7, 41] };
    return { view: 40, group: GROUP, leader: GROUP_NODE, nodes: [GROUP_NODE], leaves: [leaf] };
  }

  /** A cart that keys steer. */
  addCart() {
    const cart = this.#put({ form: 1, position: [0, -4, 0], kind: 1 });
    cart.resting = true;
    return cart;
  }

  addAvatar() {
    const id = AVATAR_IDS + this.#nextAvatar++;
    return this.#put({ form: AVATAR_FORM, position: [0, -5, 12], kind: 2, id });
  }

  remove(id) {
    if (this.objects.delete(id)) this.gone.push(id);
  }

  kill(node) {
    if (this.nodes.length < 2 || !this.nodes.includes(node)) return "there is no such node to kill";
    this.nodes = this.nodes.filter((one) => one !== node);
    let heir = 0;
    for (const leaf of this.leaves) {
      if (leaf.node === node) leaf.node = this.nodes[heir++ % this.nodes.length];
    }
    this.regionsView++;
    return null;
  }

  add() {
    const node = this.#nextNode++;
    const size = ({ min, max }) => (max[0] - min[0]) * (max[2] - min[2]);
    const largest = this.leaves.reduce((best, leaf) => (size(leaf) > size(best) ? leaf : best));
    const axis = largest.max[0] - largest.min[0] > largest.max[2] - largest.min[2] ? 0 : 2;
    const cut = (largest.min[axis] + largest.max[axis]) / 2;
    const half = { node, min: [...largest.min], max: [...largest.max] };
    half.min[axis] = cut;
    largest.max[axis] = cut;
    this.leaves.push(half);
    this.nodes.push(node);
    this.regionsView++;
    return null;
  }

  ownerOf(position) {
    const has = ({ min, max }) =>
      position.every((part, axis) => part >= min[axis] && part < max[axis]);
    return this.leaves.find(has)?.node ?? null;
  }

  /** Returns true if it reaches into more than one region. */
  shared(object) {
    const { radius } = FORMS[object.form];
    if (object.kind === 0) return false;
    const touches = ({ min, max }) =>
      object.position.every(
        (part, axis) => part + radius >= min[axis] && part - radius < max[axis],
      );
    return this.leaves.filter(touches).length > 1;
  }

  step() {
    this.tick++;
    for (const object of this.objects.values()) {
      // Additions and inputs between two ticks are sent with the next one.
      object.changed = object.fresh;
      object.fresh = false;
      if (object.kind !== 0) this.#move(object);
    }
    this.#collide();
  }

  #move(object) {
    const { position, velocity, spin, rotation } = object;
    const { radius } = FORMS[object.form];
    for (let axis = 0; axis < 3; axis++) {
      position[axis] += velocity[axis] / RATE;
      const limit = EXTENT[1][axis] - radius;
      if (Math.abs(position[axis]) <= limit) continue;
      position[axis] = Math.sign(position[axis]) * limit;
      const stops = object.kind === 2;
      velocity[axis] = stops ? 0 : -Math.sign(position[axis]) * Math.abs(velocity[axis]);
      object.changed = true;
    }
    turn(rotation, spin, 1 / RATE);
    // Everything is sent again every ten seconds, spread over the frames.
    if (Number(BigInt(object.id) % 300n) === this.tick % 300) object.changed = true;
    const shared = this.shared(object);
    if (shared !== object.wasShared) object.changed = true;
    object.wasShared = shared;
  }

  #collide() {
    const cell = 1.2;
    const cells = new Map();
    const moving = [...this.objects.values()].filter((one) => one.kind !== 0);
    for (const object of moving) {
      const [x, y, z] = object.position.map((part) => Math.floor(part / cell));
      object.cell = [x, y, z];
      const key = (x + 500) * 1e6 + (y + 500) * 1e3 + z + 500;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(object);
    }
    this.touching = [];
    this.pairsTested = 0;
    const now = new Set();
    for (const one of moving) {
      for (const other of near(cells, one)) {
        if (one.id >= other.id) continue;
        this.pairsTested++;
        if (distance(one, other) > 0) continue;
        this.touching.push([one, other]);
        now.add(`${one.id} ${other.id}`);
        bounce(one, other);
      }
    }
    this.begins = [...now].filter((pair) => !this.#before.has(pair)).length;
    this.#before = now;
  }

  /** Pairs that are closer than this without touching. */
  close(metres) {
    const moving = [...this.objects.values()].filter((one) => one.kind !== 0);
    moving.sort((a, b) => a.position[0] - b.position[0]);
    const pairs = [];
    for (let first = 0; first < moving.length; first++) {
      for (let second = first + 1; second < moving.length; second++) {
        if (moving[second].position[0] - moving[first].position[0] > metres + 1.2) break;
        const apart = distance(moving[first], moving[second]);
        if (apart > 0 && apart < metres) pairs.push([moving[first], moving[second], apart]);
        if (pairs.length === 4096) return pairs;
      }
    }
    return pairs;
  }

  /** The first body that a ray hits, taken as a ball. */
  pick(origin, direction, objects = this.objects) {
    const length = Math.hypot(...direction);
    const unit = direction.map((part) => part / length);
    let best = null;
    for (const object of objects.values()) {
      const radius = FORMS[object.form].radius;
      const to = object.position.map((part, axis) => part - origin[axis]);
      const along = to.reduce((sum, part, axis) => sum + part * unit[axis], 0);
      const square = to.reduce((sum, part) => sum + part * part, 0) - along * along;
      if (along < 0 || square > radius * radius) continue;
      const at = along - Math.sqrt(radius * radius - square);
      if (best === null || at < best.at) best = { object, at };
    }
    return best && { ...best, point: origin.map((part, axis) => part + unit[axis] * best.at) };
  }
}

function* near(cells, { cell: [x, y, z] }) {
  for (let dx = -1; dx <= 1; dx++) {
    for (let dy = -1; dy <= 1; dy++) {
      for (let dz = -1; dz <= 1; dz++) {
        const key = (x + dx + 500) * 1e6 + (y + dy + 500) * 1e3 + z + dz + 500;
        yield* cells.get(key) ?? [];
      }
    }
  }
}

export function distance(one, other) {
  const apart = Math.hypot(...one.position.map((part, axis) => part - other.position[axis]));
  return apart - FORMS[one.form].radius - FORMS[other.form].radius;
}

/** Two bodies that come closer exchange their velocities; avatars only push. */
function bounce(one, other) {
  const apart = other.position.map((part, axis) => part - one.position[axis]);
  const closing = apart.reduce(
    (sum, part, axis) => sum + part * (other.velocity[axis] - one.velocity[axis]),
    0,
  );
  if (closing >= 0) return;
  const swap = one.velocity;
  if (one.kind === 1 && !one.resting) one.velocity = [...other.velocity];
  if (other.kind === 1 && !other.resting) other.velocity = [...swap];
  one.changed = true;
  other.changed = true;
}

function turn(rotation, spin, seconds) {
  const rate = Math.hypot(...spin);
  if (rate === 0) return;
  const sine = Math.sin((rate * seconds) / 2) / rate;
  const c = Math.cos((rate * seconds) / 2);
  const [sx, sy, sz] = spin.map((part) => part * sine);
  const [x, y, z, w] = rotation;
  rotation[0] = c * x + sx * w + sy * z - sz * y;
  rotation[1] = c * y + sy * w + sz * x - sx * z;
  rotation[2] = c * z + sz * w + sx * y - sy * x;
  rotation[3] = c * w - sx * x - sy * y - sz * z;
}
