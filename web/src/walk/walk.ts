// Taking part: an avatar at /ws?format=json. Keys, mouse and gamepad become a velocity; what comes
// back is where the avatar is. The credential is kept, so that a reload or a broken line gives the
// same avatar back.
import { idOfText, type Id } from "../ids";
import { Line, type LineState } from "../line";
import { fields, number, parse, quat, vec3, type Fields, type Quat, type Vec3 } from "../protocol/words";

const RATE = 20;
const STEER_MS = 50;
/** Without a word about the limit. */
const SPEED_DEFAULT = 4;
/** Somebody walks at a pace that can be steered, whatever the world allows. */
const SPEED_WALK = 8;
/** Velocities that differ by less are the same. */
const SAME = 0.01;
/** Without news the avatar is drawn where it was last told to be. */
const AHEAD_SECONDS = 0.15;

export interface WalkUser {
  token(): string | null;
  /** The velocity wanted, as parts of the highest speed. */
  wish(): Vec3;
  changed(words: string): void;
}

interface Own {
  position: Vec3;
  rotation: Quat;
  velocity: Vec3;
  at: number;
}

export class Walk {
  /** The avatar, while there is one. */
  avatar: Id | null = null;
  wanted = false;
  private own: Own | null = null;
  private speed = SPEED_DEFAULT;
  private said: Vec3 = [0, 0, 0];
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly line: Line;

  constructor(private readonly user: WalkUser) {
    this.line = new Line("ws?format=json", {
      hello: () => ({
        type: "hello",
        token: this.user.token(),
        credential: credential.get(),
        rate: RATE,
      }),
      text: (message) => this.hear(message),
      state: (state) => this.lineState(state),
    });
  }

  start(): void {
    if (this.wanted) return;
    this.wanted = true;
    this.line.start();
    this.timer = setInterval(() => this.steer(), STEER_MS);
  }

  /** Leaves the world: the avatar is taken out. */
  leave(): void {
    if (!this.wanted) return;
    this.line.say({ type: "bye" });
    credential.set(null);
    this.end("");
  }

  /** Says what is wanted now, if that is something else than before. */
  steer(): void {
    if (this.avatar === null) return;
    const wish = this.user.wish().map((part) => part * this.speed) as Vec3;
    if (wish.every((part, axis) => Math.abs(part - this.said[axis]!) < SAME)) return;
    this.said = wish;
    this.line.say({ type: "steer", velocity: wish, spin: [0, 0, 0] });
  }

  /** Where the avatar is now: position and rotation; null if that is not known. */
  pose(now: number): { position: Vec3; rotation: Quat } | null {
    if (this.own === null || this.avatar === null) return null;
    const { position, velocity, rotation, at } = this.own;
    const seconds = Math.min((now - at) / 1000, AHEAD_SECONDS);
    const there = position.map((part, axis) => part + velocity[axis]! * seconds) as Vec3;
    return { position: there, rotation };
  }

  private end(words: string): void {
    this.wanted = false;
    this.avatar = null;
    this.own = null;
    clearInterval(this.timer);
    this.line.stop();
    this.user.changed(words);
  }

  private lineState(state: LineState): void {
    if (!this.wanted) return;
    if (state.kind === "waiting") {
      this.avatar = null;
      this.own = null;
      this.user.changed("The line to your avatar broke. Coming back…");
    }
    if (state.kind === "connecting") this.user.changed("Walking in…");
  }

  private hear(message: string): void {
    const said = parse(message);
    if (said === null) return;
    if (said.type === "welcome") this.welcome(said);
    if (said.type === "world") this.world(fields(said.own));
    if (said.type === "kicked") this.end(`You were put out: ${String(said.why)}`);
    if (said.type === "refused") this.refused(String(said.why));
  }

  private welcome(said: Fields): void {
    this.avatar = idOfText(said.avatar);
    if (typeof said.credential === "string") credential.set(said.credential);
    this.speed = Math.min(number(fields(said.limits).speed) ?? SPEED_DEFAULT, SPEED_WALK);
    this.said = [0, 0, 0];
    this.user.changed("");
  }

  private world(own: Fields): void {
    const [position, rotation] = [vec3(own.position), quat(own.rotation)];
    if (!position) return;
    this.own = {
      position,
      rotation: rotation ?? [0, 0, 0, 1],
      velocity: vec3(own.velocity) ?? [0, 0, 0],
      at: performance.now(),
    };
  }

  /** A credential of another world, or of an avatar that is no more: come as somebody new, once. */
  private refused(why: string): void {
    if (credential.get() === null) {
      this.end(`Not let in: ${why}`);
      return;
    }
    credential.set(null);
    this.line.start();
  }
}

const KEPT = "jostle-credential";

/** Kept for this tab only. */
const credential = {
  get(): string | null {
    try {
      return sessionStorage.getItem(KEPT);
    } catch {
      return null;
    }
  },
  set(value: string | null): void {
    try {
      if (value === null) sessionStorage.removeItem(KEPT);
      else sessionStorage.setItem(KEPT, value);
    } catch {
      // Without storage there is a new avatar after a reload.
    }
  },
};
