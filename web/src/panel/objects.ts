// The list of objects: search by name or id, select, isolate and hide. Updated only while it is
// open and has changed.
import { button, element, input, make, part, write } from "../dom";
import type { Id } from "../ids";
import type { Visibility } from "../visibility";
import type { Store } from "../world/store";
import { whole } from "./text";

/** Rows in the list, at most: search finds the others. */
const ROWS_MAX = 200;
/** Objects come and go all the time in a live world; the list is updated at this interval. */
const FOLLOW_MS = 1500;

export interface ObjectListUser {
  store(): Store;
  name(id: Id): string | null;
  selected(): Id | null;
  select(id: Id): void;
  visibility: Visibility;
}

export class ObjectList {
  private readonly root = element("objects", HTMLDetailsElement);
  private written = "";
  private writtenAt = 0;

  constructor(private readonly user: ObjectListUser) {
    this.root.addEventListener("toggle", () => this.draw(true));
    input("object-search").addEventListener("input", () => this.draw(true));
    button("show-all").addEventListener("click", () => user.visibility.showAll());
  }

  focusSearch(): void {
    this.root.open = true;
    input("object-search").focus();
  }

  /** Redraws after a change, or after the interval. */
  draw(now = false): void {
    const { visibility } = this.user;
    const all = button("show-all");
    all.hidden = !visibility.isPartial;
    const store = this.user.store();
    write(part("object-count"), whole(store.count));
    if (!this.root.open) return;
    const search = input("object-search").value.trim().toLowerCase();
    const { hidden, only } = visibility;
    const state = [store.members, search, hidden.size, only && [...only].join(), this.user.selected()].join("|");
    if (state === this.written) return;
    if (!now && performance.now() - this.writtenAt < FOLLOW_MS) return;
    this.written = state;
    this.writtenAt = performance.now();
    this.write(store, search);
  }

  private write(store: Store, search: string): void {
    const entries = [...store.slots.keys()].map((id) => ({ id, name: this.user.name(id) }));
    const found = entries.filter(
      ({ id, name }) => !search || name?.toLowerCase().includes(search) || String(id).includes(search),
    );
    const byName = (one: { id: Id; name: string | null }) => one.name ?? "\uffff";
    found.sort((a, b) => byName(a).localeCompare(byName(b)) || (a.id < b.id ? -1 : 1));
    const rows = found.slice(0, ROWS_MAX).map(({ id, name }) => this.row(id, name));
    part("object-list").replaceChildren(...rows);
    const more = found.length - rows.length;
    const none = found.length === 0 ? "No object has this name." : "";
    write(part("object-more"), more > 0 ? `and ${whole(more)} more: search for them` : none);
  }

  private row(id: Id, name: string | null): HTMLElement {
    const { visibility } = this.user;
    const words = name ?? `Object ${id}`;
    const row = make("li");
    row.classList.toggle("hidden-object", !visibility.shows(id));
    row.classList.toggle("selected", id === this.user.selected());
    const select = control("name", words, words);
    select.addEventListener("click", () => this.user.select(id));
    const isolate = control("quiet", "◎", `Isolate ${words}`);
    isolate.addEventListener("click", () => visibility.isolate([id]));
    const hidden = visibility.hidden.has(id);
    const hide = control("quiet", hidden ? "○" : "●", hidden ? `Show ${words}` : `Hide ${words}`);
    hide.addEventListener("click", () => visibility.toggle(id));
    row.append(select, isolate, hide);
    return row;
  }
}

function control(kind: string, words: string, title: string): HTMLElement {
  const made = make("button", kind, words);
  made.setAttribute("type", "button");
  if (words !== title) made.setAttribute("aria-label", title);
  made.title = title;
  return made;
}
