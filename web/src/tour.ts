// Five sentences for who comes for the first time to a shared world. Shown once; the help shows them
// again.
import { button, element, part, write } from "./dom";
import { keep } from "./theme";

const KEPT = "jostle-tour";

const SENTENCES = [
  "This is one shared world: several machines compute it together, and everybody sees the same.",
  "Each coloured region belongs to a node, and bodies take the colour of the node that has them.",
  "What collides turns red, exactly and in the tick in which it happens; click a body to see where.",
  "In a demo you can kill a node with ✕: the others take its region over, and nothing is lost.",
  "Press “Walk in” to take part with an avatar: W A S D to go, E and Q for up and down.",
];

export class Tour {
  private place = 0;

  constructor() {
    button("tour-next").addEventListener("click", () => this.go(this.place + 1));
    button("tour-skip").addEventListener("click", () => this.end());
    button("help-tour").addEventListener("click", () => {
      element("help-dialog", HTMLDialogElement).close();
      this.go(0);
    });
  }

  /** Somebody has come to a shared world: the first time it is explained. */
  begin(): void {
    if (keep.get(KEPT) === null) this.go(0);
  }

  /** Ends it; false if it was not there. */
  end(): boolean {
    const tour = part("tour");
    if (tour.hidden) return false;
    tour.hidden = true;
    keep.set(KEPT, "seen");
    return true;
  }

  private go(place: number): void {
    this.place = place;
    const words = SENTENCES[place];
    if (words === undefined) {
      this.end();
      return;
    }
    part("tour").hidden = false;
    write(part("tour-words"), words);
    write(part("tour-place"), `${place + 1} of ${SENTENCES.length}`);
    write(button("tour-next"), place + 1 === SENTENCES.length ? "Done" : "Next");
  }
}
