// The card of the selected body: what the server said of it, and what it does now.
import { button, Facts, part, write } from "./dom";
import type { Id } from "./ids";
import { CLASS_NAMES } from "./protocol/frame";
import type { Contacts, Picked } from "./protocol/words";
import type { RegionMap } from "./world/regions";
import type { Store } from "./world/store";

export class Card {
  private readonly facts = new Facts(part("card-facts"));
  private picked: Picked | null = null;
  private contacts: Contacts | null = null;

  constructor(closed: () => void) {
    button("card-close").addEventListener("click", closed);
  }

  show(picked: Picked, name: string | null): void {
    this.picked = picked;
    this.contacts = null;
    this.facts.clear();
    const title = picked.name ?? name;
    write(part("card-title"), title ?? `Object ${shortId(picked.id)}`);
    part("card").hidden = false;
  }

  hide(): void {
    this.picked = null;
    part("card").hidden = true;
  }

  takeContacts(contacts: Contacts): void {
    this.contacts = contacts;
  }

  draw(store: Store, regions: RegionMap): void {
    const picked = this.picked;
    if (picked === null || picked.id === null) return;
    const slot = store.slots.get(picked.id);
    this.facts.set("Id", String(picked.id));
    const kind = slot === undefined ? picked.class : CLASS_NAMES[store.classes[slot]!];
    this.facts.set("Class", kind ?? "–");
    const face = picked.face === null ? "" : `, hit ${picked.face}`;
    this.facts.set("Faces", picked.faces === null ? "–" : `${picked.faces}${face}`);
    this.facts.set("Owner", ownerWords(picked, store, regions, slot));
    const velocity = slot === undefined ? picked.velocity : store.velocity(slot);
    this.facts.set("Velocity", velocity?.map((part) => part.toFixed(2)).join(", ") ?? "–");
    const speed = velocity ? `${Math.hypot(...velocity).toFixed(2)} m/s` : "–";
    this.facts.set("Speed", speed);
    this.facts.set("Touches", slot === undefined ? "is gone" : this.touches(picked.id, store));
  }

  /** By the frame that the colours are of: what the server sends besides is some ticks older. */
  private touches(id: Id, store: Store): string {
    const others = store.partners(id);
    const told = this.contacts?.id === id ? this.contacts.near ?? [] : [];
    const near = told.filter((one) => !others.includes(one.id));
    const nearest = Math.min(...near.map(({ distance }) => distance));
    const words = others.slice(0, 3).map(shortId);
    if (others.length > 3) words.push(`and ${others.length - 3} more`);
    if (near.length > 0) words.push(`${near.length} close, ${nearest.toFixed(2)} m`);
    return words.join(", ") || "nothing";
  }
}

/** Who has it now; as it was when it was asked for if it is gone. */
function ownerWords(picked: Picked, store: Store, regions: RegionMap, slot: number | undefined): string {
  const told = picked.owner === null ? null : { node: picked.owner, group: picked.group ?? 0 };
  const owner =
    slot === undefined ? told : regions.ownerOf(store.position(slot), store.group(slot));
  if (owner === null) return "–";
  return regions.all().length > 1 ? `node ${owner.node}, group ${owner.group}` : `node ${owner.node}`;
}

/** Ids of avatars are long; their end tells them apart. */
function shortId(id: Id | null): string {
  const text = String(id);
  return text.length > 8 ? `…${text.slice(-6)}` : text;
}
