// The selected body: a frame around it, its contact faces, intersection segments, and lines to
// objects that are too close. Drawn on top; moves with the bodies between two reports.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Points,
  type PointsMaterial,
  Quaternion,
  Vector3,
  type Object3D,
  type Scene,
} from "three";
import { CLOSE, SELECTED, TOUCHING } from "../colours";
import type { Id } from "../ids";
import type { MeshData } from "../protocol/mesh";
import type { Contacts, Vec3 } from "../protocol/messages";
import { POSE_VALUES, type Store } from "../world/store";
import type { Forms } from "./forms";
import { screenPoints } from "./points";

const onTop = { depthTest: false, transparent: true };
const FACE = new MeshBasicMaterial({ color: TOUCHING, opacity: 0.6, side: DoubleSide, ...onTop });
const SEGMENT = new LineBasicMaterial({ color: "#ffffff", ...onTop });
const NEAR = new LineBasicMaterial({ color: CLOSE, ...onTop });
const FRAME = new LineBasicMaterial({ color: SELECTED, ...onTop });

const UNIT_BOX: [Vec3, Vec3] = [[-1, -1, -1], [1, 1, 1]];

let forContact: PointsMaterial | null = null;
let forNear: PointsMaterial | null = null;
const contactPoints = () => (forContact ??= screenPoints("#ffffff", TOUCHING, 8));
const nearPoints = () => (forNear ??= screenPoints(CLOSE, "#3a3000", 8));

export class Selection {
  /** Drawn faces and segments, for the card and for tests. */
  faces = 0;
  segments = 0;
  private readonly frame = new LineSegments(new EdgesGeometry(new BoxGeometry(2, 2, 2)), FRAME);
  /** Parts that move with a body, by its id. */
  private readonly parts = new Map<Id, Group>();
  private readonly root = new Group();

  constructor(scene: Scene) {
    this.frame.visible = false;
    this.frame.renderOrder = 4;
    this.root.renderOrder = 3;
    scene.add(this.frame, this.root);
  }

  clear(): void {
    for (const part of this.parts.values()) discard(part);
    this.parts.clear();
    this.faces = 0;
    this.segments = 0;
  }

  /** Takes over the contacts of the selected body. */
  take(contacts: Contacts, store: Store, forms: Forms): void {
    this.clear();
    const own = new Set<number>();
    for (const other of contacts.with) {
      for (const [mine] of other.faces) own.add(mine);
      this.addFaces(other.id, new Set(other.faces.map(([, theirs]) => theirs)), store, forms);
      this.addLines(contacts.id, other.segments, SEGMENT, store);
      this.segments += other.segments.length;
    }
    this.addFaces(contacts.id, own, store, forms);
    const lines = contacts.near.flatMap(({ points }) => (points ? [points] : []));
    this.addLines(contacts.id, lines, NEAR, store);
  }

  /** Moves everything to the current poses. */
  draw(store: Store, forms: Forms, selected: Id | null): void {
    const slot = selected === null ? undefined : store.slots.get(selected);
    this.frame.visible = slot !== undefined;
    if (slot !== undefined) {
      const [low, high] = forms.looks[store.forms[slot]!]?.box ?? UNIT_BOX;
      pose(this.frame, store, slot);
      const half = low.map((part, axis) => (high[axis]! - part) / 2) as Vec3;
      const more = Math.max(...half) * 0.04;
      const middle = new Vector3(...low).add(new Vector3(...high)).multiplyScalar(0.5);
      this.frame.position.add(middle.applyQuaternion(this.frame.quaternion));
      this.frame.scale.set(half[0] + more, half[1] + more, half[2] + more);
    }
    for (const [id, part] of this.parts) {
      const where = store.slots.get(id);
      part.visible = where !== undefined && selected !== null;
      if (where !== undefined) pose(part, store, where);
    }
  }

  private addFaces(id: Id, faces: Set<number>, store: Store, forms: Forms): void {
    const slot = store.slots.get(id);
    const mesh = slot === undefined ? undefined : forms.looks[store.forms[slot]!]?.mesh;
    if (mesh === undefined || faces.size === 0) return;
    const geometry = someFaces(mesh, faces);
    if (geometry === null) return;
    this.faces += faces.size;
    const drawn = new Mesh(geometry, FACE);
    drawn.renderOrder = 3;
    this.partOf(id).add(drawn);
  }

  private addLines(id: Id, lines: [Vec3, Vec3][], look: LineBasicMaterial, store: Store): void {
    const slot = store.slots.get(id);
    if (slot === undefined || lines.length === 0) return;
    // Reported in world coordinates; kept in those of the body.
    const place = new Group();
    pose(place, store, slot);
    place.updateMatrix();
    const back = new Matrix4().copy(place.matrix).invert();
    const points = lines.flat().map((point) => new Vector3(...point).applyMatrix4(back));
    const geometry = new BufferGeometry().setFromPoints(points);
    const drawn = new LineSegments(geometry, look);
    drawn.renderOrder = 4;
    // A contact can be smaller than a pixel: its ends are points of constant size.
    const ends = new Points(geometry, look === NEAR ? nearPoints() : contactPoints());
    ends.renderOrder = 5;
    this.partOf(id).add(drawn, ends);
  }

  private partOf(id: Id): Group {
    let part = this.parts.get(id);
    if (part === undefined) {
      part = new Group();
      this.parts.set(id, part);
      this.root.add(part);
    }
    return part;
  }
}

/** The triangles of some faces. */
function someFaces(mesh: MeshData, faces: Set<number>): BufferGeometry | null {
  const corners: number[] = [];
  mesh.faces.forEach((face, triangle) => {
    if (faces.has(face)) corners.push(...mesh.triangles.subarray(triangle * 3, triangle * 3 + 3));
  });
  if (corners.length === 0) return null;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(mesh.positions, 3));
  geometry.setIndex(corners);
  return geometry;
}

const turn = new Quaternion();

function pose(thing: Object3D, store: Store, slot: number): void {
  const [x, y, z, a, b, c, d] = store.poses.subarray(
    slot * POSE_VALUES,
    (slot + 1) * POSE_VALUES,
  ) as unknown as [number, number, number, number, number, number, number];
  thing.position.set(x, y, z);
  thing.quaternion.copy(turn.set(a, b, c, d));
}

function discard(part: Group): void {
  for (const child of part.children) (child as Mesh).geometry.dispose();
  part.removeFromParent();
}
