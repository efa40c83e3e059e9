// Keys of a scene's KeySensors: from the keyboard, from buttons on the page (mouse, touch), and
// from a gamepad. They are sent to the scene.
import { make, part } from "../dom";
import type { SceneKey } from "../protocol/messages";
import { gamepad, isTyping } from "./keys";
import { qtKey, qtLabel, type QtKey } from "./qt";

/** Repeat interval of a held key, as in Qt, at least. */
const AGAIN_MS = 100;
/** Delay before a held button or stick repeats. */
const HELD_MS = 450;
/** Deflection from which a stick counts as a key. */
const STICK_KEY = 0.5;
/** Keys of the page: without them it could not be used by keyboard alone. */
const PAGE_KEYS: ReadonlySet<string> = new Set(["Tab", "Escape"]);

const [LEFT, UP, RIGHT, DOWN, SPACE] = [0x1012, 0x1013, 0x1014, 0x1015, 0x20];

export class SceneKeys {
  private keys: readonly SceneKey[] = [];
  private lastSent = 0;
  /** The held button or gamepad key, and since when. */
  private readonly held = new Map<"button" | "pad", { key: QtKey; since: number }>();

  constructor(private readonly send: (control: object) => void) {
    // In the capture phase: a key of the scene does nothing else.
    window.addEventListener("keydown", (event) => this.press(event), { capture: true });
    for (const over of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(over, () => this.held.delete("button"));
    }
  }

  /** The keys of a new world. */
  load(keys: readonly SceneKey[]): void {
    this.keys = keys;
    this.held.clear();
    const bar = part("scene-keys");
    bar.replaceChildren(...keys.map((key) => this.button(key)));
    bar.hidden = keys.length === 0;
  }

  /** Polls the gamepad, and repeats held keys. Called for every picture. */
  poll(now: number): void {
    if (this.keys.length === 0) return;
    const pad = padKey();
    const known = this.held.get("pad")?.key;
    if (pad === null || !this.listensTo(pad)) this.held.delete("pad");
    else if (known?.value !== pad.value) this.hold("pad", pad, now);
    for (const { key, since } of this.held.values()) {
      if (now - since > HELD_MS) this.sendKey(key, now, true);
    }
  }

  private listensTo(key: QtKey): boolean {
    return this.keys.some(({ value, state }) => value === key.value && state === key.state);
  }

  private press(event: KeyboardEvent): void {
    if (this.keys.length === 0 || PAGE_KEYS.has(event.key) || isTyping(event.target)) return;
    const key = qtKey(event);
    if (key === null || !this.listensTo(key)) return;
    // A focused button is pressed by the space bar and by Enter, as usual.
    const presses = event.key === " " || event.key === "Enter";
    if (presses && event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    event.stopPropagation();
    this.sendKey(key, event.timeStamp, event.repeat);
  }

  private sendKey(key: QtKey, now: number, again: boolean): void {
    if (again && now - this.lastSent < AGAIN_MS) return;
    this.lastSent = now;
    this.send({ do: "key", value: key.value, state: key.state });
  }

  private hold(by: "button" | "pad", key: QtKey, now: number): void {
    this.held.set(by, { key, since: now });
    this.sendKey(key, now, false);
  }

  private button(key: SceneKey): HTMLElement {
    const made = make("button", "key", qtLabel(key));
    made.setAttribute("type", "button");
    made.title = key.does;
    made.setAttribute("aria-label", `Key ${qtLabel(key)}: ${key.does}`);
    made.addEventListener("pointerdown", (event) => {
      if (event.button === 0) this.hold("button", key, performance.now());
    });
    // After a click the keyboard is used: the space bar must not press the button again.
    made.addEventListener("mousedown", (event) => event.preventDefault());
    // From Enter or the space bar; a pointer has been handled before.
    made.addEventListener("click", (event) => {
      if (event.detail === 0) this.sendKey(key, performance.now(), false);
    });
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }
}

/** A gamepad's left stick, cross and first button as keys. */
function padKey(): QtKey | null {
  const pad = gamepad();
  if (pad === null) return null;
  const [x, up, y] = pad.direction;
  const value =
    Math.max(Math.abs(x), Math.abs(y)) >= STICK_KEY
      ? Math.abs(x) > Math.abs(y)
        ? x < 0
          ? LEFT
          : RIGHT
        : y < 0
          ? UP
          : DOWN
      : up >= STICK_KEY
        ? SPACE
        : null;
  return value === null ? null : { value, state: 0 };
}
