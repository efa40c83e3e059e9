// Boxes around bodies in the world, and around many of them.
import type { Id } from "../ids";
import type { Vec3 } from "../protocol/messages";
import { Class } from "../protocol/frame";
import { POSE_VALUES, type Store } from "../world/store";
import type { Look } from "./forms";

export type Box = [Vec3, Vec3];

/** The box around a body at its current pose. */
export function boxOf(store: Store, slot: number, look: Pick<Look, "box">): Box {
  const [px, py, pz, x, y, z, w] = store.poses.subarray(
    slot * POSE_VALUES,
    (slot + 1) * POSE_VALUES,
  ) as unknown as [number, number, number, number, number, number, number];
  const rows = [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
  const [low, high] = look.box;
  const middle = low.map((part, axis) => (part + high[axis]!) / 2);
  const half = low.map((part, axis) => (high[axis]! - part) / 2);
  const place = [px, py, pz];
  const box: Box = [[0, 0, 0], [0, 0, 0]];
  rows.forEach((row, axis) => {
    let [at, reach] = [place[axis]!, 0];
    row.forEach((part, own) => {
      at += part * middle[own]!;
      reach += Math.abs(part) * half[own]!;
    });
    box[0][axis] = at - reach;
    box[1][axis] = at + reach;
  });
  return box;
}

export function join(one: Box | null, other: Box): Box {
  if (one === null) return [[...other[0]], [...other[1]]];
  for (let axis = 0; axis < 3; axis++) {
    one[0][axis] = Math.min(one[0][axis]!, other[0][axis]!);
    one[1][axis] = Math.max(one[1][axis]!, other[1][axis]!);
  }
  return one;
}

export function diagonal([low, high]: Box): number {
  return Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

/** The box around some bodies; null if none of them exists. */
export function boxAround(store: Store, looks: readonly Look[], ids: Iterable<Id>): Box | null {
  let box: Box | null = null;
  for (const id of ids) {
    const slot = store.slots.get(id);
    const look = slot === undefined ? undefined : looks[store.forms[slot]!];
    if (slot !== undefined && look) box = join(box, boxOf(store, slot, look));
  }
  return box;
}

/** The box around all bodies, except those absurdly far from the extent. */
export function boxAroundAll(store: Store, looks: readonly Look[], extent: Box): Box {
  const far = diagonal(extent);
  // In static scenes the extent is rounded up a lot: the parts are used instead.
  let box: Box | null = null;
  for (const [id, slot] of store.slots) {
    const look = looks[store.forms[slot]!];
    if (!look || store.classes[slot] === Class.Absent || id === undefined) continue;
    const own = boxOf(store, slot, look);
    const near = own.every((corner) =>
      corner.every((part, axis) => part > extent[0][axis]! - far && part < extent[1][axis]! + far),
    );
    if (near) box = join(box, own);
  }
  return box ?? extent;
}
