// Regions: the leaves of every group's distribution tree, and the owner of a place. Every group
// divides all of space among its own nodes, so a place has one owner in each group.
import type { GroupRegions, Leaf, Regions, Vec3 } from "../protocol/messages";

export interface OwnedLeaf extends Leaf {
  group: number;
}

/** The mark of a group in frames (docs/view-protocol.md). */
export function groupMark(group: number): number {
  return (group % 127) + 1;
}

export interface Owner {
  group: number;
  node: number;
}

export class RegionMap {
  private groups: GroupRegions[] = [];
  /** Those of the followed group come first. */
  leaves: OwnedLeaf[] = [];
  /** Increases with every change. */
  version = 0;
  /** By mark, 0 for the followed group: the range of its leaves. */
  private readonly ranges = new Map<number, [number, number]>();

  clear(): void {
    this.set([]);
  }

  take({ followed, others }: Regions): void {
    this.set([followed, ...others]);
  }

  /** The followed group first. */
  all(): readonly GroupRegions[] {
    return this.groups;
  }

  /** All nodes that have a region, in order. */
  nodes(): number[] {
    return [...new Set(this.leaves.map((leaf) => leaf.node))].sort((a, b) => a - b);
  }

  /** The leaf of a group that contains a place, -1 if none. `guess` is tried first. */
  leafOf(x: number, y: number, z: number, mark: number, guess: number): number {
    const range = this.ranges.get(mark);
    if (range === undefined) return -1;
    const { leaves } = this;
    const [first, end] = range;
    if (guess >= first && guess < end && inside(leaves[guess]!, x, y, z)) return guess;
    for (let leaf = first; leaf < end; leaf++) {
      if (inside(leaves[leaf]!, x, y, z)) return leaf;
    }
    return -1;
  }

  /** The owner of a place in the group with this mark. */
  ownerOf(place: Vec3, mark: number): Owner | null {
    return this.leaves[this.leafOf(...place, mark, -1)] ?? null;
  }

  private set(groups: GroupRegions[]): void {
    this.groups = groups;
    this.leaves = [];
    this.ranges.clear();
    groups.forEach(({ group, leaves }, index) => {
      const first = this.leaves.length;
      this.leaves.push(...leaves.map((leaf) => ({ ...leaf, group })));
      const range: [number, number] = [first, this.leaves.length];
      if (index === 0) this.ranges.set(0, range);
      this.ranges.set(groupMark(group), range);
    });
    this.version++;
  }
}

/** `min` is inside, `max` is not. */
function inside({ min, max }: Leaf, x: number, y: number, z: number): boolean {
  const below = x < max[0] && y < max[1] && z < max[2];
  return below && x >= min[0] && y >= min[1] && z >= min[2];
}
