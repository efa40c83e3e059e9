// Regions: each leaf of the distribution tree as edges and a label in its node's colour, with the
// ground below it tinted. Regions of other groups divide the same space again, and have dashed
// edges, a little smaller for each group.
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
import { nodeColour, rgb } from "../colours";
import type { Palette } from "../theme";
import type { OwnedLeaf, RegionMap } from "../world/regions";
import { GROUND_ORDER } from "./surroundings";

const BOX_EDGES = new EdgesGeometry(new BoxGeometry(1, 1, 1));
const SQUARE = new PlaneGeometry(1, 1);
/** Neighbours share edges; drawn a little smaller, both are visible. */
const SHRINK = 0.996;
/** Additional shrinking for each further group. */
const SHRINK_MORE = 0.014;
const FLOOR_PART = 0.16;
/** Of an edge. */
const DASH = 0.02;
const GAP = 0.015;

export class Territories {
  readonly group = new Group();
  /**
   * Whether all of the ground is tinted. Regions fill the world, so it is as soon as there are any.
   */
  coversGround = false;
  private version = -1;
  private ground = -Infinity;
  private floorHeight = 0;
  private floorColour = "#ffffff";

  constructor(scene: Scene) {
    scene.add(this.group);
  }

  paint(palette: Palette): void {
    this.floorColour = palette.floor;
    this.version = -1;
  }

  /** A new world: what lies at or below `ground` has its floor at this height. */
  load(ground: number, floorHeight: number): void {
    this.ground = ground;
    this.floorHeight = floorHeight;
    this.version = -1;
  }

  follow(regions: RegionMap): void {
    if (regions.version === this.version) return;
    this.version = regions.version;
    for (const part of [...this.group.children]) discard(part);
    const living = regions.nodes();
    const groups = regions.all().map(({ group }) => group);
    this.coversGround = (regions.all()[0]?.leaves.length ?? 0) > 0;
    const labelled = new Set<number>();
    for (const leaf of regions.leaves) {
      const colour = nodeColour(leaf.node, living);
      const rank = groups.indexOf(leaf.group);
      this.group.add(edgesOf(leaf, colour, rank));
      if (rank === 0) this.group.add(this.floorOf(leaf, colour));
      // One label for a node, on its first leaf, is enough to read the map.
      if (labelled.has(leaf.node)) continue;
      labelled.add(leaf.node);
      const name = groups.length > 1 ? `node ${leaf.node} · group ${leaf.group}` : `node ${leaf.node}`;
      this.group.add(labelOf(leaf, name, colour, rank));
    }
  }

  /** On the ground, or at the bottom of the leaf if that is higher; there it is transparent. */
  private floorOf(leaf: OwnedLeaf, colour: string): Mesh {
    const high = leaf.min[1] > this.ground;
    const material = new MeshBasicMaterial();
    if (high) {
      material.color.set(colour);
      material.transparent = true;
      material.opacity = FLOOR_PART;
      material.depthWrite = false;
    } else {
      // Mixed once and not for every pixel.
      const [own, floor] = [rgb(colour), rgb(this.floorColour)];
      const mixed = own.map((part, at) => part * FLOOR_PART + floor[at]! * (1 - FLOOR_PART));
      material.color.setRGB(mixed[0]!, mixed[1]!, mixed[2]!, SRGBColorSpace);
    }
    const floor = new Mesh(SQUARE, material);
    floor.renderOrder = GROUND_ORDER;
    floor.rotation.x = -Math.PI / 2;
    const [x, , z] = middle(leaf);
    floor.position.set(x, high ? leaf.min[1] : this.floorHeight, z);
    const [width, depth] = [leaf.max[0] - leaf.min[0], leaf.max[2] - leaf.min[2]];
    floor.scale.set(width, depth, 1);
    return floor;
  }
}

function middle({ min, max }: OwnedLeaf): [number, number, number] {
  return [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2];
}

function edgesOf(leaf: OwnedLeaf, color: string, rank: number): LineSegments {
  const size = leaf.max.map((high, axis) => high - leaf.min[axis]!) as [number, number, number];
  const material =
    rank > 0
      ? new LineDashedMaterial({ color, dashSize: DASH, gapSize: GAP })
      : new LineBasicMaterial({ color });
  const edges = new LineSegments(BOX_EDGES.clone(), material);
  if (rank > 0) edges.computeLineDistances();
  const shrink = Math.max(SHRINK - SHRINK_MORE * rank, 0.5);
  edges.scale.set(size[0] * shrink, size[1] * shrink, size[2] * shrink);
  edges.position.set(...middle(leaf));
  return edges;
}

function labelOf(leaf: OwnedLeaf, name: string, colour: string, rank: number): Sprite {
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
  // Groups overlap, their labels must not.
  label.center.set(0.5, 0.5 - 1.15 * rank);
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
