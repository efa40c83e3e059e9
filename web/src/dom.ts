// The page's own elements, by id. They are in index.html, so a missing one is a bug of ours.

export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}`);
  return found;
}

export const button = (id: string) => element(id, HTMLButtonElement);
export const input = (id: string) => element(id, HTMLInputElement);
export const part = (id: string) => element(id, HTMLElement);
export const canvas = (id: string) => element(id, HTMLCanvasElement);

/** Writes text only if it has changed, to avoid a layout. */
export function write(target: HTMLElement, words: string): void {
  if (target.textContent !== words) target.textContent = words;
}

/** A new element with a class and text. */
export function make(tag: string, className = "", words = ""): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (words) made.textContent = words;
  return made;
}

/** Pairs of names and values in a `dl`, in the order in which they are first written. */
export class Facts {
  private readonly values = new Map<string, HTMLElement>();

  constructor(private readonly list: HTMLElement) {}

  set(name: string, value: string): void {
    let found = this.values.get(name);
    if (found === undefined) {
      const row = make("div");
      found = make("dd");
      row.append(make("dt", "", name), found);
      this.list.append(row);
      this.values.set(name, found);
    }
    write(found, value);
  }

  clear(): void {
    this.values.clear();
    this.list.replaceChildren();
  }
}
