// The help dialog under "?": keys that have a meaning in this kind of world.
import { button, element, make, part } from "./dom";
import type { WorldKind } from "./protocol/messages";

interface Key {
  keys: string;
  does: string;
  /** Kinds of worlds; all if absent. */
  in?: readonly WorldKind[];
}

const KEYS: readonly Key[] = [
  { keys: "Drag · arrow keys", does: "look around" },
  { keys: "Wheel · + −", does: "closer, farther" },
  { keys: "Shift + drag", does: "move sideways" },
  { keys: "1  2  3", does: "orbit, fly, follow the selected object" },
  { keys: "W A S D · Q E", does: "fly, or walk as an avatar" },
  { keys: "0", does: "show the whole scene" },
  { keys: "Click", does: "select an object" },
  { keys: "I", does: "isolate the selected object, or end that" },
  { keys: "H", does: "hide the selected object" },
  { keys: "U", does: "show everything again" },
  { keys: "/", does: "search objects by name" },
  { keys: "N  P", does: "next finding, previous finding", in: ["check", "scene", "shared"] },
  { keys: "N  P", does: "next collision, previous collision", in: ["recording"] },
  { keys: "K  .  ,", does: "play or pause, one tick forward, one tick back", in: ["recording"] },
  { keys: "F", does: "freeze the picture; the world goes on", in: ["shared", "scene"] },
  { keys: "Esc", does: "close, deselect" },
  { keys: "?", does: "this list" },
];

export class Help {
  private readonly dialog = element("help-dialog", HTMLDialogElement);

  constructor() {
    button("help").addEventListener("click", () => this.toggle());
    button("help-close").addEventListener("click", () => this.dialog.close());
    // A click outside the list closes it.
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.load("shared");
  }

  get isOpen(): boolean {
    return this.dialog.open;
  }

  load(kind: WorldKind): void {
    const rows = KEYS.filter((key) => key.in?.includes(kind) ?? true).map(({ keys, does }) => {
      const row = make("div");
      const names = make("dt");
      for (const name of keys.split("  ")) names.append(make("kbd", "", name), " ");
      row.append(names, make("dd", "", does));
      return row;
    });
    part("help-keys").replaceChildren(...rows);
    button("help-tour").hidden = kind !== "shared";
  }

  toggle(): void {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }
}
