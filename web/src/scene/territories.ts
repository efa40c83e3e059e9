// Who computes where: each leaf of the distribution tree as edges, a tinted floor and a label in
// its node's colour. Groups beyond the first have dashed edges.
import {
  BoxGeometry,
  CanvasTexture,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  Sprite,
  SpriteMaterial,
  SRGBColorSpace,
  type Scene,
} from "three";
import { nodeColour } from "../colours";
import type { OwnedLeaf, RegionMap } from "../world/regions";

const BOX_EDGES = new EdgesGeometry(new BoxGeometry(1, 1, 1));
const SQUARE = new PlaneGeometry(1, 1);
/** Neighbours share edges; drawn a little smaller, both are seen. */
const SHRINK = 0.996;
const FLOOR_OPACITY = 0.16;

export class Territories {
  readonly group = new Group();
  private version = -1;
  private ground = -Infinity;

  constructor(scene: Scene) {
    scene.add(this.group);
  }

  /** A new world, whose floor is this high. */
  load(ground: number): void {
    this.ground = ground;
    this.version = -1;
  }

  follow(regions: RegionMap): void {
    if (regions.version === this.version) return;
    this.version = regions.version;
    for (const part of [...this.group.children]) discard(part);
    const living = regions.nodes();
    const groups = new Set(regions.leaves.map((leaf) => leaf.group)).size;
    const labelled = new Set<number>();
    for (const leaf of regions.leaves) {
      const colour = nodeColour(leaf.node, living);
      this.group.add(edgesOf(leaf, colour), floorOf(leaf, colour, this.ground));
      // One label for a node, on its first leaf, is enough to read the map.
      if (labelled.has(leaf.node)) continue;
      labelled.add(leaf.node);
      const name = groups > 1 ? `node ${leaf.node} · group ${leaf.group}` : `node ${leaf.node}`;
      this.group.add(labelOf(leaf, name, colour));
    }
  }
}

function middle({ min, max }: OwnedLeaf): [number, number, number] {
  return [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2];
}

function edgesOf(leaf: OwnedLeaf, color: string): LineSegments {
  const dashed = leaf.group > 0;
  const size = leaf.max.map((high, axis) => high - leaf.min[axis]!) as [number, number, number];
  const material = dashed
    ? new LineDashedMaterial({ color, dashSize: 0.02 * leaf.group, gapSize: 0.015 })
    : new LineBasicMaterial({ color });
  const edges = new LineSegments(BOX_EDGES.clone(), material);
  if (dashed) edges.computeLineDistances();
  edges.scale.set(size[0] * SHRINK, size[1] * SHRINK, size[2] * SHRINK);
  edges.position.set(...middle(leaf));
  return edges;
}

/** On the ground, or where the leaf begins if that is higher. */
function floorOf(leaf: OwnedLeaf, color: string, ground: number): Mesh {
  const floor = new Mesh(
    SQUARE,
    new MeshBasicMaterial({ color, transparent: true, opacity: FLOOR_OPACITY, depthWrite: false }),
  );
  floor.rotation.x = -Math.PI / 2;
  const [x, , z] = middle(leaf);
  const height = leaf.max[1] - leaf.min[1];
  floor.position.set(x, Math.max(leaf.min[1], ground) + height * 0.002, z);
  const [width, depth] = [leaf.max[0] - leaf.min[0], leaf.max[2] - leaf.min[2]];
  floor.scale.set(width * SHRINK, depth * SHRINK, 1);
  return floor;
}

function labelOf(leaf: OwnedLeaf, name: string, colour: string): Sprite {
  const canvas = document.createElement("canvas");
  const [width, height] = [256, 64];
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.font = "600 30px system-ui, sans-serif";
    const wide = Math.min(width, pen.measureText(name).width + 36);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect((width - wide) / 2, 8, wide, 48, 24);
    pen.fill();
    pen.fillStyle = "#ffffff";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(name, width / 2, 34, width - 30);
  }
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  const material = new SpriteMaterial({ map, sizeAttenuation: false, depthTest: false });
  const label = new Sprite(material);
  label.scale.set(0.14, 0.035, 1);
  const [x, , z] = middle(leaf);
  label.position.set(x, leaf.max[1], z);
  label.renderOrder = 5;
  return label;
}

function discard(part: Group["children"][number]): void {
  part.removeFromParent();
  if (part instanceof Sprite) part.material.map?.dispose();
  if (part instanceof LineSegments) (part.geometry as EdgesGeometry).dispose();
  const { material } = part as Mesh;
  if (!Array.isArray(material)) material.dispose();
}
