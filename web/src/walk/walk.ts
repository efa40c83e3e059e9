// Avatar control at /ws?format=json. Keys, mouse and gamepad become the input; the server returns
// the avatar's state. The credential is stored, so that a reload or a reconnect resumes the same
// avatar.
import { idOfText, type Id } from "../ids";
import { ServerConnection, type LineState } from "../connection";
import { fields, number, parse, quat, vec3, type Fields, type Quat, type Vec3 } from "../protocol/messages";

const RATE = 20;
const STEER_MS = 50;
/** Used if the server gives no limit. */
const SPEED_DEFAULT = 4;
/** Walking speed, whatever the world allows. */
const SPEED_WALK = 8;
/** Inputs that differ by less are the same. */
const SAME = 0.01;
/** Longest extrapolation of the avatar without an update. */
const AHEAD_SECONDS = 0.15;

export interface WalkUser {
  token(): string | null;
  /** The input, as a fraction of the highest speed. */
  input(): Vec3;
  changed(words: string): void;
}

interface Own {
  position: Vec3;
  rotation: Quat;
  velocity: Vec3;
  at: number;
}

export class Walk {
  /** The avatar, if there is one. */
  avatar: Id | null = null;
  wanted = false;
  private own: Own | null = null;
  private speed = SPEED_DEFAULT;
  private lastSent: Vec3 = [0, 0, 0];
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly connection: ServerConnection;

  constructor(private readonly user: WalkUser) {
    this.connection = new ServerConnection("ws?format=json", {
      hello: () => ({
        type: "hello",
        token: this.user.token(),
        credential: credential.get(),
        rate: RATE,
      }),
      text: (message) => this.receive(message),
      state: (state) => this.lineState(state),
    });
  }

  start(): void {
    if (this.wanted) return;
    this.wanted = true;
    this.connection.start();
    this.timer = setInterval(() => this.sendInput(), STEER_MS);
  }

  /** Leaves the world: the avatar is removed. */
  leave(): void {
    if (!this.wanted) return;
    this.connection.send({ type: "bye" });
    credential.set(null);
    this.end("");
  }

  /** Sends the current input if it has changed. */
  sendInput(): void {
    if (this.avatar === null) return;
    const input = this.user.input().map((part) => part * this.speed) as Vec3;
    if (input.every((part, axis) => Math.abs(part - this.lastSent[axis]!) < SAME)) return;
    this.lastSent = input;
    this.connection.send({ type: "steer", velocity: input, spin: [0, 0, 0] });
  }

  /** The current pose of the avatar; null if unknown. */
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
    this.connection.stop();
    this.user.changed(words);
  }

  private lineState(state: LineState): void {
    if (!this.wanted) return;
    if (state.kind === "waiting") {
      this.avatar = null;
      this.own = null;
      this.user.changed("Connection lost, reconnecting to your avatar…");
    }
    if (state.kind === "connecting") this.user.changed("Walking in…");
  }

  private receive(message: string): void {
    const data = parse(message);
    if (data === null) return;
    if (data.type === "welcome") this.welcome(data);
    if (data.type === "world") this.world(fields(data.own));
    if (data.type === "kicked") this.end(`You were disconnected: ${String(data.why)}`);
    if (data.type === "refused") this.refused(String(data.why));
  }

  private welcome(data: Fields): void {
    this.avatar = idOfText(data.avatar);
    if (typeof data.credential === "string") credential.set(data.credential);
    this.speed = Math.min(number(fields(data.limits).speed) ?? SPEED_DEFAULT, SPEED_WALK);
    this.lastSent = [0, 0, 0];
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

  /** The credential is of another world or a removed avatar: enters as a new one, once. */
  private refused(why: string): void {
    if (credential.get() === null) {
      this.end(`Connection rejected: ${why}`);
      return;
    }
    credential.set(null);
    this.connection.start();
  }
}

const KEPT = "jostle-credential";

/** Stored for this tab only. */
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
      // Not available.
    }
  },
};
