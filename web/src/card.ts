// The card of the selected object. Its contacts are the pairs of the same frame that determine its
// colour, so both always agree; the server's answer adds where they are.
import { button, Facts, part, write } from "./dom";
import type { Id } from "./ids";
import { CLASS_NAMES } from "./protocol/frame";
import type { Contacts, Picked, WorldKind } from "./protocol/messages";
import type { MeshData } from "./protocol/mesh";
import type { Look } from "./scene/forms";
import type { RegionMap } from "./world/regions";
import type { Store } from "./world/store";

export interface CardUser {
  close(): void;
  hide(): void;
  isolate(): void;
  name(id: Id): string | null;
}

/** What is drawn now. */
export interface CardScene {
  store: Store;
  regions: RegionMap;
  looks: readonly Look[];
  kind: WorldKind;
  own: Id | null;
}

export class Card {
  private readonly facts = new Facts(part("card-facts"));
  private id: Id | null = null;
  private face: number | null = null;
  private near: Contacts["near"] = [];

  constructor(private readonly user: CardUser) {
    button("card-close").addEventListener("click", () => user.close());
    button("card-hide").addEventListener("click", () => user.hide());
    button("card-isolate").addEventListener("click", () => user.isolate());
  }

  /** Selects another object. */
  show(id: Id): void {
    if (id !== this.id) {
      this.near = [];
      this.face = null;
      this.facts.clear();
    }
    this.id = id;
    write(part("card-title"), this.user.name(id) ?? `Object ${shortId(id)}`);
    part("card-title").title = this.user.name(id) ?? String(id);
    part("card").hidden = false;
  }

  hide(): void {
    this.id = null;
    part("card").hidden = true;
  }

  takePicked(picked: Picked): void {
    if (picked.id === this.id) this.face = picked.face;
  }

  takeContacts(contacts: Contacts): void {
    this.near = contacts.near;
  }

  draw({ store, regions, looks, kind, own }: CardScene): void {
    const { id } = this;
    if (id === null) return;
    const slot = store.slots.get(id);
    this.facts.set("Id", id === own ? `${id} (you)` : String(id));
    const live = kind !== "check";
    if (slot === undefined) {
      this.facts.set("State", "no longer there");
      return;
    }
    if (live) this.facts.set("Class", CLASS_NAMES[store.classes[slot]!] ?? "—");
    const mesh = looks[store.forms[slot]!]?.mesh;
    const faces = mesh ? String(faceCount(mesh)) : "—";
    this.facts.set("Faces", this.face === null ? faces : `${faces}, hit ${this.face}`);
    if (kind === "shared") {
      const owner = regions.ownerOf(store.position(slot), store.group(slot));
      const group = regions.all().length > 1 ? `, group ${owner?.group}` : "";
      this.facts.set("Owner", owner === null ? "—" : `node ${owner.node}${group}`);
    }
    this.facts.set("Position", store.position(slot).map((part) => part.toFixed(2)).join(", "));
    if (!live) return;
    const velocity = store.velocity(slot);
    this.facts.set("Speed", `${Math.hypot(...velocity).toFixed(2)} m/s`);
    this.facts.set("Touches", this.touches(store, id));
  }

  private touches(store: Store, id: Id): string {
    const others = store.partners(id);
    const words = others.slice(0, 3).map((other) => this.user.name(other) ?? shortId(other));
    if (others.length > 3) words.push(`and ${others.length - 3} more`);
    const near = this.near.filter((one) => !others.includes(one.id));
    if (near.length > 0) {
      const nearest = Math.min(...near.map(({ distance }) => distance));
      words.push(`${near.length} close, ${nearest.toFixed(2)} m`);
    }
    return words.join(", ") || "nothing";
  }
}

const faceCounts = new WeakMap<MeshData, number>();

/** Cached: a mesh can have a million triangles. */
function faceCount(mesh: MeshData): number {
  let count = faceCounts.get(mesh);
  if (count === undefined) {
    count = new Set(mesh.faces).size;
    faceCounts.set(mesh, count);
  }
  return count;
}

/** Ids of avatars are long; their last digits distinguish them. */
export function shortId(id: Id | null): string {
  const text = String(id);
  return text.length > 8 ? `…${text.slice(-6)}` : text;
}
