// The hall itself: a floor with a grid, and the edges of what is large and never moves, so that
// walls are seen and hide nothing.
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
import type { World } from "../protocol/words";
import { POSE_VALUES, type Store } from "../world/store";
import type { Forms } from "./forms";
import type { Palette } from "../theme";

const GRID_CELLS = 24;
/** Software rendering loses long lines that pass behind who looks, and takes 3 µs for each short one. */
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
  floorHeight = 0;

  constructor(scene: Scene) {
    this.floor.rotation.x = -Math.PI / 2;
    // After bodies: what they hide need not be painted.
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

  load({ extent: [low, high] }: World): void {
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

  /** Regions paint the ground themselves; without them there is a plain floor. */
  cover(byRegions: boolean): void {
    this.floor.visible = this.loaded && !byRegions;
  }

  /** Draws the edges of what surrounds, when that has changed. */
  follow(store: Store, forms: Forms): void {
    const slots: number[] = [];
    for (let slot = 0; slot < store.end; slot++) {
      const kind = store.classes[slot];
      if (store.ids[slot] === undefined || kind !== Class.Immovable) continue;
      if (forms.looks[store.forms[slot]!]?.surrounds) slots.push(slot);
    }
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

/** A line over so many cells, in pieces: from which cell to which. */
function pieces(cells: number): [number, number][] {
  const count = Math.ceil(cells / CELLS_PER_LINE);
  const end = (piece: number) => Math.min(piece * CELLS_PER_LINE, cells);
  return Array.from({ length: count }, (_, piece) => [end(piece), end(piece + 1)]);
}
