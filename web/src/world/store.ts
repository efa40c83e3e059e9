// All known bodies in flat arrays. A body keeps its slot while it exists. Frames update the store;
// `show` computes every body's pose at a tick, for the scene to draw.
import { Class, OBJECT_VALUES, type ClosePairs, type Frame } from "../protocol/frame";
import type { Id } from "../ids";
import type { Quat, Vec3 } from "../protocol/messages";
import { blend, COURSE_VALUES, extrapolate } from "./motion";

/** Position and rotation. */
export const POSE_VALUES = 7;

export class Store {
  readonly slots = new Map<Id, number>();
  /** By slot; undefined if the slot is free. */
  ids: (Id | undefined)[] = [];
  forms = new Uint16Array(0);
  classes = new Uint8Array(0);
  shared = new Uint8Array(0);
  /** The mark of another group's object, see `Frame.homes`. */
  homes = new Uint8Array(0);
  /** Current poses: POSE_VALUES by slot. */
  poses = new Float64Array(0);
  /** Touching pairs of the newest frame: two ids for each. Colours and the card use these. */
  touching: readonly Id[] = [];
  /** Increases when an object is added or removed. */
  members = 0;
  /** Exact poses of immovable objects, where known. */
  exact: ReadonlyMap<Id, [Vec3, Quat]> = new Map();

  private courses = new Float64Array(0);
  /** The tick of a course. */
  private since = new Float64Array(0);
  /** The previous course, and the ticks in which it is blended into the new one. */
  private before = new Float64Array(0);
  private beforeSince = new Float64Array(0);
  private leadFrom = new Float64Array(0);
  private leadUntil = new Float64Array(0);
  /** The number of the message that last listed the body as touching, or as too close. */
  private touchMark = new Uint32Array(0);
  private closeMark = new Uint32Array(0);
  private touchMessage = 1;
  private closeMessage = 1;
  private free: number[] = [];
  private readonly other = new Float64Array(POSE_VALUES);

  get count(): number {
    return this.slots.size;
  }

  /** Slots in use are below this. */
  get end(): number {
    return this.ids.length;
  }

  clear(): void {
    this.slots.clear();
    this.free = [];
    this.ids = [];
    this.touching = [];
    this.members++;
  }

  /**
   * Applies a frame. `shown` is the displayed tick: from there bodies are blended into their new
   * courses, unless time `jumped`.
   */
  take(frame: Frame, shown: number, jumped: boolean): void {
    if (frame.whole) this.forgetOthers(frame.ids);
    for (const id of frame.gone) this.remove(id);
    for (let index = 0; index < frame.ids.length; index++) {
      this.place(frame, index, shown, jumped);
    }
    this.touchMessage++;
    for (const id of frame.touching) {
      const slot = this.slots.get(id);
      if (slot !== undefined) this.touchMark[slot] = this.touchMessage;
    }
    this.touching = frame.touching;
  }

  /** Takes over the pairs that are too close. */
  takeClose(close: ClosePairs): void {
    this.closeMessage++;
    for (const id of close.pairs) {
      const slot = this.slots.get(id);
      if (slot !== undefined) this.closeMark[slot] = this.closeMessage;
    }
  }

  /** Clearance is switched off. */
  forgetClose(): void {
    this.closeMessage++;
  }

  get touchingPairs(): number {
    return this.touching.length / 2;
  }

  /** Objects that touch an object in the newest frame: the pairs that determine its colour. */
  partners(id: Id): Id[] {
    const found: Id[] = [];
    const { touching } = this;
    for (let at = 0; at < touching.length; at += 2) {
      if (touching[at] === id) found.push(touching[at + 1]!);
      else if (touching[at + 1] === id) found.push(touching[at]!);
    }
    return found;
  }

  touches(slot: number): boolean {
    return this.touchMark[slot] === this.touchMessage;
  }

  isClose(slot: number): boolean {
    return this.closeMark[slot] === this.closeMessage;
  }

  /**
   * The group whose regions apply to a body: 0 for the followed one, otherwise a mark
   * (`Frame.homes`).
   */
  group(slot: number): number {
    // Of an unknown other group: no group has this mark.
    if (this.classes[slot] === Class.Foreign) return this.homes[slot] || -1;
    return 0;
  }

  velocity(slot: number): [number, number, number] {
    const at = slot * COURSE_VALUES + 3;
    return [this.courses[at]!, this.courses[at + 1]!, this.courses[at + 2]!];
  }

  position(slot: number): [number, number, number] {
    const at = slot * POSE_VALUES;
    return [this.poses[at]!, this.poses[at + 1]!, this.poses[at + 2]!];
  }

  /** Computes the poses of all bodies at a tick. */
  show(tick: number, ticksPerSecond: number): void {
    const { courses, poses, since, leadUntil } = this;
    const second = 1 / ticksPerSecond;
    for (let slot = 0; slot < this.ids.length; slot++) {
      if (this.ids[slot] === undefined) continue;
      const to = slot * POSE_VALUES;
      extrapolate(courses, slot * COURSE_VALUES, (tick - since[slot]!) * second, poses, to);
      if (tick < leadUntil[slot]!) this.lead(slot, tick, second);
    }
  }

  /** A copy for a frozen picture. */
  still(): Store {
    const copy = new Store();
    for (const [id, slot] of this.slots) copy.slots.set(id, slot);
    copy.ids = this.ids.slice();
    copy.forms = this.forms.slice();
    copy.classes = this.classes.slice();
    copy.shared = this.shared.slice();
    copy.homes = this.homes.slice();
    copy.poses = this.poses.slice();
    copy.courses = this.courses.slice();
    copy.touching = this.touching;
    copy.members = this.members;
    copy.touchMark = this.touchMark.slice();
    copy.closeMark = this.closeMark.slice();
    copy.touchMessage = this.touchMessage;
    copy.closeMessage = this.closeMessage;
    return copy;
  }

  private lead(slot: number, tick: number, second: number): void {
    const { other, poses } = this;
    const seconds = (tick - this.beforeSince[slot]!) * second;
    extrapolate(this.before, slot * COURSE_VALUES, seconds, other, 0);
    const from = this.leadFrom[slot]!;
    const part = (tick - from) / (this.leadUntil[slot]! - from);
    blend(other, 0, Math.min(Math.max(part, 0), 1), poses, slot * POSE_VALUES);
  }

  private place(frame: Frame, index: number, shown: number, jumped: boolean): void {
    const id = frame.ids[index]!;
    let slot = this.slots.get(id);
    const isNew = slot === undefined;
    slot ??= this.add(id);
    const at = slot * COURSE_VALUES;
    const wasAbsent = this.classes[slot] === Class.Absent;
    if (!isNew && !jumped && !wasAbsent) {
      this.before.set(this.courses.subarray(at, at + COURSE_VALUES), at);
      this.beforeSince[slot] = this.since[slot]!;
      this.leadFrom[slot] = shown;
      this.leadUntil[slot] = Math.max(frame.tick, shown + 1);
    } else {
      this.leadUntil[slot] = -1;
    }
    const from = index * OBJECT_VALUES;
    this.courses.set(frame.values.subarray(from, from + OBJECT_VALUES), at);
    if (frame.classes[index] === Class.Immovable) this.placeExactly(id, at);
    this.since[slot] = frame.tick;
    this.forms[slot] = frame.forms[index]!;
    this.classes[slot] = frame.classes[index]!;
    this.shared[slot] = frame.shared[index]!;
    this.homes[slot] = frame.homes[index]!;
    if (isNew) extrapolate(this.courses, at, 0, this.poses, slot * POSE_VALUES);
  }

  /** A frame rounds to 1/4096 m; the parts of a small assembly need exact poses. */
  private placeExactly(id: Id, at: number): void {
    const pose = this.exact.get(id);
    if (pose === undefined) return;
    this.courses.set(pose[0], at);
    this.courses.set(pose[1], at + 9);
  }

  private add(id: Id): number {
    const slot = this.free.pop() ?? this.ids.length;
    this.members++;
    this.ids[slot] = id;
    this.slots.set(id, slot);
    if (slot >= this.forms.length) this.grow();
    this.touchMark[slot] = 0;
    this.closeMark[slot] = 0;
    return slot;
  }

  private remove(id: Id): void {
    const slot = this.slots.get(id);
    if (slot === undefined) return;
    this.slots.delete(id);
    this.members++;
    this.ids[slot] = undefined;
    this.free.push(slot);
  }

  private forgetOthers(listed: Id[]): void {
    const stay = new Set(listed);
    for (const id of [...this.slots.keys()]) if (!stay.has(id)) this.remove(id);
  }

  private grow(): void {
    const room = Math.max(256, this.forms.length * 2);
    const doubles = (old: Float64Array, each: number) => {
      const grown = new Float64Array(room * each);
      grown.set(old);
      return grown;
    };
    const marks = (old: Uint32Array) => {
      const grown = new Uint32Array(room);
      grown.set(old);
      return grown;
    };
    const bytes = (old: Uint8Array) => {
      const grown = new Uint8Array(room);
      grown.set(old);
      return grown;
    };
    const forms = new Uint16Array(room);
    forms.set(this.forms);
    this.forms = forms;
    this.classes = bytes(this.classes);
    this.shared = bytes(this.shared);
    this.homes = bytes(this.homes);
    this.poses = doubles(this.poses, POSE_VALUES);
    this.courses = doubles(this.courses, COURSE_VALUES);
    this.before = doubles(this.before, COURSE_VALUES);
    this.since = doubles(this.since, 1);
    this.beforeSince = doubles(this.beforeSince, 1);
    this.leadFrom = doubles(this.leadFrom, 1);
    this.leadUntil = doubles(this.leadUntil, 1);
    this.touchMark = marks(this.touchMark);
    this.closeMark = marks(this.closeMark);
  }
}
