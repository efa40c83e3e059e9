// The keys that a scene's KeySensors wait for: from the keyboard, from buttons on the page (mouse,
// touch), and from a gamepad. What they do the scene decides; here they are only passed on.
import { make, part } from "../dom";
import type { SceneKey } from "../protocol/words";
import { gamepad, isTyping } from "./keys";
import { qtKey, qtLabel, type QtKey } from "./qt";

/** A key that is held is told again, as Qt does, but no faster than this. */
const AGAIN_MS = 100;
/** After this long a button or stick that is held begins to repeat. */
const HELD_MS = 450;
/** A stick counts as a key from here on. */
const STICK_KEY = 0.5;
/** These belong to the page: without them it could not be used by keys alone. */
const PAGE_KEYS: ReadonlySet<string> = new Set(["Tab", "Escape"]);

const [LEFT, UP, RIGHT, DOWN, SPACE] = [0x1012, 0x1013, 0x1014, 0x1015, 0x20];

export class SceneKeys {
  private keys: readonly SceneKey[] = [];
  private said = 0;
  /** The key of a button or gamepad that is held, and since when. */
  private readonly held = new Map<"button" | "pad", { key: QtKey; since: number }>();

  constructor(private readonly say: (order: object) => void) {
    // Before others: a key that the scene wants does nothing else.
    window.addEventListener("keydown", (event) => this.press(event), { capture: true });
    for (const over of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(over, () => this.held.delete("button"));
    }
  }

  /** A world, which wants these keys. */
  load(keys: readonly SceneKey[]): void {
    this.keys = keys;
    this.held.clear();
    const bar = part("scene-keys");
    bar.replaceChildren(...keys.map((key) => this.button(key)));
    bar.hidden = keys.length === 0;
  }

  /** Looks at the gamepad, and tells what is held again. Called for every picture. */
  poll(now: number): void {
    if (this.keys.length === 0) return;
    const pad = padKey();
    const known = this.held.get("pad")?.key;
    if (pad === null || !this.wants(pad)) this.held.delete("pad");
    else if (known?.value !== pad.value) this.hold("pad", pad, now);
    for (const { key, since } of this.held.values()) {
      if (now - since > HELD_MS) this.tell(key, now, true);
    }
  }

  private wants(key: QtKey): boolean {
    return this.keys.some(({ value, state }) => value === key.value && state === key.state);
  }

  private press(event: KeyboardEvent): void {
    if (this.keys.length === 0 || PAGE_KEYS.has(event.key) || isTyping(event.target)) return;
    const key = qtKey(event);
    if (key === null || !this.wants(key)) return;
    // A focused button is pressed by the space bar and by Enter, as everywhere.
    const presses = event.key === " " || event.key === "Enter";
    if (presses && event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    event.stopPropagation();
    this.tell(key, event.timeStamp, event.repeat);
  }

  private tell(key: QtKey, now: number, again: boolean): void {
    if (again && now - this.said < AGAIN_MS) return;
    this.said = now;
    this.say({ do: "key", value: key.value, state: key.state });
  }

  private hold(by: "button" | "pad", key: QtKey, now: number): void {
    this.held.set(by, { key, since: now });
    this.tell(key, now, false);
  }

  private button(key: SceneKey): HTMLElement {
    const made = make("button", "key", qtLabel(key));
    made.setAttribute("type", "button");
    made.title = key.does;
    made.setAttribute("aria-label", `Key ${qtLabel(key)}: ${key.does}`);
    made.addEventListener("pointerdown", (event) => {
      if (event.button === 0) this.hold("button", key, performance.now());
    });
    // Who clicks goes on with keys: the space bar must not press the button again.
    made.addEventListener("mousedown", (event) => event.preventDefault());
    // By Enter or the space bar; a pointer was down before.
    made.addEventListener("click", (event) => {
      if (event.detail === 0) this.tell(key, performance.now(), false);
    });
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }
}

/** What a gamepad's left stick, cross and first button are as keys. */
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
