// The tour: five sentences for new users of a shared world. Shown once; the help shows them again.
import { button, element, part, write } from "./dom";
import { keep } from "./theme";

const KEPT = "jostle-tour";

const SENTENCES = [
  "This is one shared world: several machines compute it together, and all users see the same.",
  "Each coloured region belongs to a node, and bodies take the colour of the node that has them.",
  "Colliding bodies turn red, exactly and in the tick of the collision; click a body to see where.",
  "In a demo you can kill a node with ✕: the others take over its region, and nothing is lost.",
  "Press “Walk in” to enter with an avatar: W A S D to move, E and Q for up and down.",
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

  /** Shows the tour to a new user. */
  begin(): void {
    if (keep.get(KEPT) === null) this.go(0);
  }

  /** Ends the tour; false if it was not shown. */
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
