// The contact of two parts of a finding: the intersection curve and a contact point, or the closest
// points with the line between them and its length. Drawn on top.
import {
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Points,
  Vector3,
  type Material,
  type Scene,
} from "three";
import type { Finding, Vec3 } from "../protocol/messages";
import { Label } from "./label";
import { screenPoints } from "./points";

/** With more points a curve looks like a line anyway. */
const CURVE_POINTS_MAX = 60;

export class ContactView {
  /** Drawn points and lines, for tests. */
  points = 0;
  lines = 0;
  private readonly group = new Group();
  private readonly label: Label;
  private readonly materials = new Map<string, [LineBasicMaterial, Material, Material]>();

  constructor(scene: Scene) {
    scene.add(this.group);
    this.label = new Label(scene);
  }

  clear(): void {
    for (const child of [...this.group.children]) {
      (child as Points).geometry.dispose();
      child.removeFromParent();
    }
    [this.points, this.lines] = [0, 0];
    this.label.visible = false;
  }

  /** Draws a finding; `words` is the formatted distance. */
  show(finding: Finding, colour: string, words: string): void {
    this.clear();
    const [line, point, dot] = this.look(colour);
    const [a, b] = finding.points;
    const apart = Math.hypot(...a.map((part, axis) => part - b[axis]!)) > 0;
    const segments = apart ? [finding.points] : finding.segments;
    if (segments.length > 0) {
      const geometry = new BufferGeometry().setFromPoints(vectors(segments.flat()));
      const drawn = new LineSegments(geometry, line);
      drawn.renderOrder = 5;
      this.group.add(drawn);
    }
    this.lines = segments.length;
    // Only every nth: all would hide the curve.
    const step = Math.max(1, Math.ceil(segments.length / CURVE_POINTS_MAX));
    const along = segments.filter((_, index) => index % step === 0).flat();
    if (!apart && along.length > 0) this.addPoints(along, dot, 6);
    this.addPoints(apart ? [a, b] : [a], point, 7);
    this.label.write(words, colour);
    this.label.place(a.map((part, axis) => (part + b[axis]!) / 2) as Vec3);
    this.label.visible = true;
  }

  private addPoints(places: Vec3[], look: Material, order: number): void {
    const drawn = new Points(new BufferGeometry().setFromPoints(vectors(places)), look);
    drawn.renderOrder = order;
    this.group.add(drawn);
    this.points += places.length;
  }

  private look(colour: string): [LineBasicMaterial, Material, Material] {
    let known = this.materials.get(colour);
    if (known === undefined) {
      const line = new LineBasicMaterial({ color: colour, depthTest: false, transparent: true });
      known = [line, screenPoints("#ffffff", colour, 13), screenPoints(colour, "#ffffff", 6)];
      this.materials.set(colour, known);
    }
    return known;
  }
}

const vectors = (places: Vec3[]) => places.map((place) => new Vector3(...place));
