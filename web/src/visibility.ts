// Visibility: hidden objects, and isolated ones.
import type { Id } from "./ids";

/** Ids in a query, at most: a message to the server has 4 KiB. */
const ASKED_MAX = 150;

export class Visibility {
  readonly hidden = new Set<Id>();
  only: ReadonlySet<Id> | null = null;

  constructor(private readonly changed: () => void) {}

  get isPartial(): boolean {
    return this.hidden.size > 0 || this.only !== null;
  }

  shows(id: Id): boolean {
    return !this.hidden.has(id) && (this.only === null || this.only.has(id));
  }

  toggle(id: Id): void {
    if (!this.hidden.delete(id)) this.hidden.add(id);
    this.changed();
  }

  /** Isolates these; shows everything again if they are isolated already. */
  isolate(ids: readonly Id[]): void {
    const same = this.only?.size === ids.length && ids.every((id) => this.only!.has(id));
    this.only = same ? null : new Set(ids);
    if (this.only !== null) for (const id of ids) this.hidden.delete(id);
    this.changed();
  }

  showAll(): void {
    this.hidden.clear();
    this.only = null;
    this.changed();
  }

  /** What a ray query passes through. */
  asked(): { hidden?: string[]; only?: string[] } {
    const few = (ids: Iterable<Id>) => [...ids].slice(0, ASKED_MAX).map(String);
    if (this.only !== null && this.only.size <= ASKED_MAX) return { only: few(this.only) };
    return this.hidden.size > 0 ? { hidden: few(this.hidden) } : {};
  }
}
