// A frozen picture while the world continues. The server holds that tick for the page, so that
// queries refer to what is shown.
import { button, write } from "./dom";
import type { Frame } from "./protocol/frame";
import { Store } from "./world/store";

/** Timeout, after which the server is assumed not to support holding. */
const PATIENCE_MS = 2000;

export interface FreezeUser {
  send(request: object): void;
  /** Returns true if the connection is open. */
  isOpen(): boolean;
  /** A copy of what is shown now. */
  still(): Store;
  notice(words: string): void;
}

export class Freeze {
  /** The frozen world; null while nothing is frozen. */
  store: Store | null = null;
  /** The tick that the server holds. */
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
    this.user.send({ type: "hold" });
    this.timer = setTimeout(() => this.alone(), PATIENCE_MS);
  }

  /** The server's answer: the held tick, whose frame follows, or an error. */
  receiveHeld(tick: number | null, error: string | null): void {
    if (!this.wanted || tick !== null) return;
    this.alone();
    if (error) this.user.notice(`Frozen on this page only, clicks cannot be answered: ${error}.`);
  }

  /** The frame of the held tick. */
  take(frame: Frame): void {
    if (!this.wanted || this.store !== null) return;
    clearTimeout(this.timer);
    const store = new Store();
    store.take(frame, frame.tick, true);
    store.show(frame.tick, 1);
    [this.store, this.tick] = [store, frame.tick];
  }

  /** The connection was lost, and with it the held tick. */
  lose(): void {
    this.tick = null;
  }

  /** Returns true if an answer about this tick refers to what is shown. */
  shows(tick: number): boolean {
    return this.store === null || tick === this.tick;
  }

  /** The store that a tick belongs to. */
  of(tick: number, live: Store): Store {
    return this.store !== null && tick === this.tick ? this.store : live;
  }

  /** Returns whether a query can be sent; otherwise shows why not. */
  canAsk(): boolean {
    if (this.isAskable) return true;
    this.user.notice("This picture is frozen on this page only, and the world has continued. Unfreeze it to select.");
    return false;
  }

  private alone(): void {
    clearTimeout(this.timer);
    if (this.store === null) [this.store, this.tick] = [this.user.still(), null];
  }

  private end(): void {
    clearTimeout(this.timer);
    [this.store, this.tick] = [null, null];
    this.user.send({ type: "release" });
  }
}
