// Draws all bodies: visible ones are written into the instances of their shape, near ones with
// their mesh, far ones as impostors.
import type { PerspectiveCamera } from "three";
import { CLOSE, NO_NODE, nodeColour, OWN, partColour, rgb, TOUCHING } from "../colours";
import type { Id } from "../ids";
import { Class } from "../protocol/frame";
import { POSE_VALUES, type Store } from "../world/store";
import type { RegionMap } from "../world/regions";
import type { Forms, Look } from "./forms";
import { MARK_SELECTED, MARK_SHARED } from "./instances";
import { FAR_PIXELS, LAYER_NONE } from "./impostors";

/** Smaller bodies are not drawn. */
const GONE_PIXELS = 0.35;

export type Rgb = readonly [number, number, number];

export interface Wanted {
  /** Stripes on bodies of several nodes, red and yellow. */
  marks: boolean;
  selected: Id | null;
  /** The user's avatar. */
  own: Id | null;
  /** Objects that are not drawn. */
  hidden: ReadonlySet<Id>;
  /** If not null, only these are drawn. */
  only: ReadonlySet<Id> | null;
  /** Colours that replace those of nodes: the parts of findings. */
  tints: ReadonlyMap<Id, Rgb>;
  /** Everything without a tint is drawn faintly. */
  ghosts: boolean;
  /** Without nodes: parts have colours of their own. */
  parts: boolean;
}

export class Bodies {
  /** Instances of the last picture. */
  drawn = 0;
  /** Bodies with a smaller radius on the screen, in pixels, are drawn as impostors. */
  farPixels = FAR_PIXELS;
  private leaves = new Int16Array(0);
  private leafColours: Rgb[] = [];
  private regionsVersion = -1;

  constructor(
    private readonly forms: Forms,
    /** Returns true for walls of which only edges are drawn. */
    private readonly surrounds: (slot: number) => boolean,
  ) {}

  draw(store: Store, regions: RegionMap, camera: PerspectiveCamera, wanted: Wanted): void {
    this.prepare(store, regions);
    for (const instances of this.forms.instances()) instances.begin();
    const sight = new Sight(camera);
    const { looks, impostors } = this.forms;
    impostors.begin(camera);
    this.drawn = 0;
    for (let slot = 0; slot < store.end; slot++) {
      const id = store.ids[slot];
      const kind = store.classes[slot]!;
      if (id === undefined || kind === Class.Absent) continue;
      const look = looks[store.forms[slot]!];
      if (look === undefined || (kind === Class.Immovable && this.surrounds(slot))) continue;
      if (wanted.hidden.size > 0 && wanted.hidden.has(id)) continue;
      if (wanted.only !== null && !wanted.only.has(id)) continue;
      const at = slot * POSE_VALUES;
      const { poses } = store;
      const size = sight.pixels(poses[at]!, poses[at + 1]!, poses[at + 2]!, look.radius);
      if (size < GONE_PIXELS) continue;
      const far = size < this.farPixels && look.layer !== LAYER_NONE;
      const ghost = wanted.ghosts && !wanted.tints.has(id) && id !== wanted.selected;
      if (ghost && far) continue;
      const target = far ? impostors : ghost ? look.near.ghost : look.near;
      target.add();
      if (far) placeImpostor(poses, at, look, impostors.values, impostors.at);
      else place(poses, at, look, target.values, target.at);
      this.paint(store, regions, slot, wanted, target.values, target.at + 12);
      this.drawn++;
    }
    for (const instances of this.forms.instances()) instances.end();
    impostors.end();
  }

  private prepare(store: Store, regions: RegionMap): void {
    if (this.leaves.length < store.end) {
      const grown = new Int16Array(Math.max(256, store.end * 2)).fill(-1);
      grown.set(this.leaves);
      this.leaves = grown;
    }
    if (this.regionsVersion === regions.version) return;
    this.regionsVersion = regions.version;
    const living = regions.nodes();
    this.leafColours = regions.leaves.map((leaf) => rgb(nodeColour(leaf.node, living)));
  }

  private paint(
    store: Store,
    regions: RegionMap,
    slot: number,
    wanted: Wanted,
    values: Float32Array,
    to: number,
  ): void {
    const at = slot * POSE_VALUES;
    const { poses } = store;
    const guess = this.leaves[slot]!;
    const mark = store.group(slot);
    const leaf = regions.leafOf(poses[at]!, poses[at + 1]!, poses[at + 2]!, mark, guess);
    this.leaves[slot] = leaf;
    const id = store.ids[slot]!;
    let colour = this.leafColours[leaf] ?? rgb(NO_NODE);
    let grey = 0;
    const kind = store.classes[slot]!;
    const tint = wanted.tints.size > 0 ? wanted.tints.get(id) : undefined;
    if (tint !== undefined) colour = tint;
    else if (wanted.marks && store.touches(slot)) colour = rgb(TOUCHING);
    else if (wanted.marks && store.isClose(slot)) colour = rgb(CLOSE);
    else if (id === wanted.own) colour = OWN_RGB;
    else if (kind === Class.Avatar) grey = -0.35;
    else if (wanted.parts) colour = rgb(partColour(id));
    else if (kind === Class.Immovable) grey = 0.55;
    else if (kind === Class.Foreign) grey = 0.45;
    // Below nothing is towards white, above towards grey.
    const towards = grey < 0 ? 1 : 0.56;
    const part = Math.abs(grey);
    values[to] = colour[0] + (towards - colour[0]) * part;
    values[to + 1] = colour[1] + (towards - colour[1]) * part;
    values[to + 2] = colour[2] + (towards - colour[2]) * part;
    const shared = wanted.marks && store.shared[slot] === 1 ? MARK_SHARED : 0;
    values[to + 3] = shared + (id === wanted.selected ? MARK_SELECTED : 0);
  }
}

const OWN_RGB = rgb(OWN);

/** The rows of a placement: rotation times stretch, and position. */
function place(poses: Float64Array, at: number, look: Look, to: Float32Array, row: number): void {
  const x = poses[at + 3]!;
  const y = poses[at + 4]!;
  const z = poses[at + 5]!;
  const w = poses[at + 6]!;
  const [sx, sy, sz] = look.scale;
  to[row] = (1 - 2 * (y * y + z * z)) * sx;
  to[row + 1] = 2 * (x * y - w * z) * sy;
  to[row + 2] = 2 * (x * z + w * y) * sz;
  to[row + 3] = poses[at]!;
  to[row + 4] = 2 * (x * y + w * z) * sx;
  to[row + 5] = (1 - 2 * (x * x + z * z)) * sy;
  to[row + 6] = 2 * (y * z - w * x) * sz;
  to[row + 7] = poses[at + 1]!;
  to[row + 8] = 2 * (x * z - w * y) * sx;
  to[row + 9] = 2 * (y * z + w * x) * sy;
  to[row + 10] = (1 - 2 * (x * x + y * y)) * sz;
  to[row + 11] = poses[at + 2]!;
}

/** Writes an impostor: position and radius, rotation, half its edges and its layer. */
function placeImpostor(
  poses: Float64Array,
  at: number,
  look: Look,
  to: Float32Array,
  from: number,
): void {
  to[from] = poses[at]!;
  to[from + 1] = poses[at + 1]!;
  to[from + 2] = poses[at + 2]!;
  to[from + 3] = look.radius;
  to[from + 4] = poses[at + 3]!;
  to[from + 5] = poses[at + 4]!;
  to[from + 6] = poses[at + 5]!;
  to[from + 7] = poses[at + 6]!;
  const [x, y, z] = look.half;
  to[from + 8] = x;
  to[from + 9] = y;
  to[from + 10] = z;
  to[from + 11] = look.layer;
}

/** The view frustum, with few multiplications per body. */
class Sight {
  private readonly m: number[];
  private readonly near: number;
  private readonly focal: number;
  private readonly slopeX: number;
  private readonly slopeY: number;
  private readonly leanX: number;
  private readonly leanY: number;

  constructor(camera: PerspectiveCamera) {
    this.m = camera.matrixWorldInverse.elements;
    this.near = camera.near;
    this.slopeY = Math.tan((camera.fov * Math.PI) / 360);
    this.slopeX = this.slopeY * camera.aspect;
    this.leanX = Math.hypot(1, this.slopeX);
    this.leanY = Math.hypot(1, this.slopeY);
    this.focal = window.innerHeight / 2 / this.slopeY;
  }

  /** The radius of a sphere on the screen in pixels; 0 if not visible. */
  pixels(x: number, y: number, z: number, radius: number): number {
    const { m } = this;
    const depth = -(m[2]! * x + m[6]! * y + m[10]! * z + m[14]!);
    if (depth < this.near - radius) return 0;
    const right = Math.abs(m[0]! * x + m[4]! * y + m[8]! * z + m[12]!);
    if (right > depth * this.slopeX + radius * this.leanX) return 0;
    const up = Math.abs(m[1]! * x + m[5]! * y + m[9]! * z + m[13]!);
    if (up > depth * this.slopeY + radius * this.leanY) return 0;
    return (radius * this.focal) / Math.max(depth, this.near);
  }
}
