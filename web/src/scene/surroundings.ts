// Surroundings: a floor with a grid, and the edges of large immovable objects, so that walls are
// visible and hide nothing.
import {
  BufferAttribute,
  BufferGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  type Scene,
} from "three";
import { Class } from "../protocol/frame";
import type { Vec3 } from "../protocol/messages";
import { boxOf } from "./bounds";
import { POSE_VALUES, type Store } from "../world/store";
import type { Forms } from "./forms";
import type { Palette } from "../theme";

const GRID_CELLS = 24;
/**
 * Software rendering loses long lines that pass behind the camera, and takes 3 µs for each short
 * one.
 */
const CELLS_PER_LINE = 4;
const EDGE_ANGLE = 25;
/** What lies on the ground is drawn after the bodies. */
export const GROUND_ORDER = 1;

export class Surroundings {
  private readonly floor = new Mesh(new PlaneGeometry(1, 1), new MeshBasicMaterial());
  private readonly grid = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
  private readonly walls = new Group();
  private readonly wallMaterial = new LineBasicMaterial();
  private shown = "";
  private loaded = false;
  private extent: [Vec3, Vec3] | null = null;
  private around: ReadonlySet<number> = new Set();
  private lastStore: Store | null = null;
  private lastMembers = -1;
  private lastForms = -1;
  floorHeight = 0;

  constructor(scene: Scene) {
    this.floor.rotation.x = -Math.PI / 2;
    // After the bodies: hidden ground need not be painted.
    this.floor.renderOrder = GROUND_ORDER;
    this.grid.renderOrder = GROUND_ORDER + 1;
    this.floor.visible = false;
    scene.add(this.floor, this.grid, this.walls);
  }

  paint(palette: Palette): void {
    this.floor.material.color.set(palette.floor);
    this.grid.material.color.set(palette.grid);
    this.wallMaterial.color.set(palette.wall);
  }

  /** The world's box; parts of a scene are never walls. */
  load([low, high]: [Vec3, Vec3], walled: boolean): void {
    this.extent = walled ? [low, high] : null;
    this.lastStore = null;
    const [width, depth] = [high[0] - low[0], high[2] - low[2]];
    const cell = Math.max(width, depth) / GRID_CELLS;
    this.floor.scale.set(width, depth, 1);
    // Below the grid, which could not be seen otherwise.
    this.floorHeight = low[1] - cell * 0.02;
    this.floor.position.set((low[0] + high[0]) / 2, this.floorHeight, (low[2] + high[2]) / 2);
    this.loaded = true;
    const [columns, rows] = [Math.round(width / cell), Math.round(depth / cell)];
    const points: number[] = [];
    for (let column = 0; column <= columns; column++) {
      const x = low[0] + column * cell;
      for (const [from, to] of pieces(rows)) {
        points.push(x, low[1], low[2] + from * cell, x, low[1], low[2] + to * cell);
      }
    }
    for (let row = 0; row <= rows; row++) {
      const z = low[2] + row * cell;
      for (const [from, to] of pieces(columns)) {
        points.push(low[0] + from * cell, low[1], z, low[0] + to * cell, low[1], z);
      }
    }
    this.grid.geometry.dispose();
    this.grid.geometry = new BufferGeometry();
    const attribute = new BufferAttribute(new Float32Array(points), 3);
    this.grid.geometry.setAttribute("position", attribute);
  }

  /** Regions tint the ground themselves; without them there is a plain floor. */
  cover(byRegions: boolean): void {
    this.floor.visible = this.loaded && !byRegions;
  }

  /** Returns true for a wall around the world, of which only edges are drawn. */
  surrounds(slot: number): boolean {
    return this.around.has(slot);
  }

  /** Shapes of which only edges are drawn: a click passes through them. */
  forms(store: Store): number[] {
    const solid = new Set<number>();
    for (let slot = 0; slot < store.end; slot++) {
      const immovable = store.ids[slot] !== undefined && store.classes[slot] === Class.Immovable;
      if (immovable && !this.around.has(slot)) solid.add(store.forms[slot]!);
    }
    const walls = new Set([...this.around].map((slot) => store.forms[slot]!));
    return [...walls].filter((form) => !solid.has(form));
  }

  /** Draws the edges of surroundings after a change. */
  follow(store: Store, forms: Forms): void {
    if (store === this.lastStore && store.members === this.lastMembers && forms.version === this.lastForms) {
      return;
    }
    [this.lastStore, this.lastMembers, this.lastForms] = [store, store.members, forms.version];
    const slots: number[] = [];
    for (let slot = 0; slot < store.end; slot++) {
      const kind = store.classes[slot];
      if (store.ids[slot] === undefined || kind !== Class.Immovable) continue;
      const look = forms.looks[store.forms[slot]!];
      if (look && this.extent && isAround(boxOf(store, slot, look), this.extent)) slots.push(slot);
    }
    this.around = new Set(slots);
    const name = slots
      .map((slot) => {
        const form = store.forms[slot]!;
        const pose = store.poses.subarray(slot * POSE_VALUES, (slot + 1) * POSE_VALUES);
        return `${form}/${forms.looks[form]!.mesh.triangles.length}@${pose.join(",")}`;
      })
      .join(" ");
    if (name === this.shown) return;
    this.shown = name;
    for (const wall of [...this.walls.children]) {
      (wall as LineSegments).geometry.dispose();
      wall.removeFromParent();
    }
    for (const slot of slots) this.addWall(store, forms, slot);
  }

  private addWall(store: Store, forms: Forms, slot: number): void {
    const { positions, triangles } = forms.looks[store.forms[slot]!]!.mesh;
    const shape = new BufferGeometry();
    shape.setAttribute("position", new BufferAttribute(positions, 3));
    shape.setIndex(new BufferAttribute(triangles, 1));
    const edges = new LineSegments(new EdgesGeometry(shape, EDGE_ANGLE), this.wallMaterial);
    const [x, y, z, a, b, c, d] = store.poses.subarray(slot * POSE_VALUES) as unknown as number[];
    edges.position.set(x!, y!, z!);
    edges.quaternion.set(a!, b!, c!, d!);
    this.walls.add(edges);
  }
}

/** A wall is at least as large as this fraction of the world. */
const WALL_PART = 0.25;
/** And lies outside of it, except for this fraction. */
const OUTSIDE_PART = 0.02;

/**
 * Returns true if a body surrounds the world, so that it would hide what is inside. Either it is a
 * large one beyond the extent (a wall, a floor), or the extent is within it (a room). Parts of a
 * static scene are inside of its extent: they are drawn normally.
 */
export function isAround([low, high]: [Vec3, Vec3], [from, to]: [Vec3, Vec3]): boolean {
  const size = Math.max(...to.map((end, axis) => end - from[axis]!));
  const large = Math.max(...high.map((end, axis) => end - low[axis]!)) > size * WALL_PART;
  if (!large) return false;
  const slack = size * OUTSIDE_PART;
  const axes = [0, 1, 2];
  const beyond = axes.some((axis) => low[axis]! > to[axis]! - slack || high[axis]! < from[axis]! + slack);
  const within = axes.every((axis) => low[axis]! < from[axis]! && high[axis]! > to[axis]!);
  return beyond || within;
}

/** A line over so many cells, in pieces: from which cell to which. */
function pieces(cells: number): [number, number][] {
  const count = Math.ceil(cells / CELLS_PER_LINE);
  const end = (piece: number) => Math.min(piece * CELLS_PER_LINE, cells);
  return Array.from({ length: count }, (_, piece) => [end(piece), end(piece + 1)]);
}
