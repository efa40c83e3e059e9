// A picture that stands still while the world goes on. The door keeps that world as long as it is
// looked at, so that a click asks about what is seen; a door that cannot is not asked.
import { button, write } from "./dom";
import type { Frame } from "./protocol/frame";
import { Store } from "./world/store";

/** A door that has not answered by then does not know how to keep a world. */
const PATIENCE_MS = 2000;

export interface FreezeUser {
  say(asks: object): void;
  /** Is there somebody to ask? */
  isOpen(): boolean;
  /** A copy of what is shown now. */
  still(): Store;
  notice(words: string): void;
}

export class Freeze {
  /** What is looked at; null while nothing is frozen. */
  store: Store | null = null;
  /** The tick that the door keeps for us. */
  private tick: number | null = null;
  private wanted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly user: FreezeUser) {}

  get isAskable(): boolean {
    return this.store === null || this.tick !== null;
  }

  toggle(): void {
    this.wanted = !this.wanted;
    const freeze = button("freeze");
    freeze.setAttribute("aria-pressed", String(this.wanted));
    write(freeze, this.wanted ? "Unfreeze" : "Freeze");
    if (!this.wanted) return this.end();
    if (!this.user.isOpen()) return this.alone();
    this.user.say({ type: "hold" });
    this.timer = setTimeout(() => this.alone(), PATIENCE_MS);
  }

  /** The door keeps a world, whose frame comes next; or it does not. */
  hear(tick: number | null, error: string | null): void {
    if (!this.wanted || tick !== null) return;
    this.alone();
    if (error) this.user.notice(`Frozen here only, a click cannot be answered: ${error}.`);
  }

  /** The world that the door keeps. */
  take(frame: Frame): void {
    if (!this.wanted || this.store !== null) return;
    clearTimeout(this.timer);
    const store = new Store();
    store.take(frame, frame.tick, true);
    store.show(frame.tick, 1);
    [this.store, this.tick] = [store, frame.tick];
  }

  /** The line broke: nobody keeps anything for us any more. */
  lose(): void {
    this.tick = null;
  }

  /** Is what is told about this tick about what is shown? */
  shows(tick: number): boolean {
    return this.store === null || tick === this.tick;
  }

  /** The store that something about a tick belongs to. */
  of(tick: number, live: Store): Store {
    return this.store !== null && tick === this.tick ? this.store : live;
  }

  /** May a click be sent? If not, it is said why. */
  canAsk(): boolean {
    if (this.isAskable) return true;
    this.user.notice("This picture is frozen here only, and the world has gone on. Unfreeze it to ask.");
    return false;
  }

  private alone(): void {
    clearTimeout(this.timer);
    if (this.store === null) [this.store, this.tick] = [this.user.still(), null];
  }

  private end(): void {
    clearTimeout(this.timer);
    [this.store, this.tick] = [null, null];
    this.user.say({ type: "release" });
  }
}
