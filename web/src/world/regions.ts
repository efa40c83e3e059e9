// Who computes what: the leaves of every group's distribution tree, and the owner of a place.
import type { Leaf, Regions, Vec3 } from "../protocol/words";

export interface OwnedLeaf extends Leaf {
  group: number;
}

export class RegionMap {
  private readonly groups = new Map<number, Regions>();
  leaves: OwnedLeaf[] = [];
  /** Rises with every change, so that others know when to look again. */
  version = 0;

  clear(): void {
    this.groups.clear();
    this.changed();
  }

  /** A group's regions have changed; without leaves it is no more. */
  take(regions: Regions): void {
    if (regions.leaves.length > 0) this.groups.set(regions.group, regions);
    else this.groups.delete(regions.group);
    this.changed();
  }

  all(): Regions[] {
    return [...this.groups.values()].sort((a, b) => a.group - b.group);
  }

  /** All nodes that have a region, in order. */
  nodes(): number[] {
    return [...new Set(this.leaves.map((leaf) => leaf.node))].sort((a, b) => a - b);
  }

  /** The leaf that a place is in, -1 if in none. `guess` is looked at first. */
  leafOf(x: number, y: number, z: number, guess: number): number {
    const { leaves } = this;
    if (guess >= 0 && guess < leaves.length && inside(leaves[guess]!, x, y, z)) return guess;
    for (let leaf = 0; leaf < leaves.length; leaf++) {
      if (inside(leaves[leaf]!, x, y, z)) return leaf;
    }
    return -1;
  }

  ownerOf(place: Vec3): number | null {
    return this.leaves[this.leafOf(...place, -1)]?.node ?? null;
  }

  private changed(): void {
    this.leaves = this.all().flatMap((regions) =>
      regions.leaves.map((leaf) => ({ ...leaf, group: regions.group })),
    );
    this.version++;
  }
}

/** `min` belongs to a leaf, `max` does not. */
function inside({ min, max }: Leaf, x: number, y: number, z: number): boolean {
  const below = x < max[0] && y < max[1] && z < max[2];
  return below && x >= min[0] && y >= min[1] && z >= min[2];
}
