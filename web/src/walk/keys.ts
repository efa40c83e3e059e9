// Keys and sticks that move an avatar, in one table. (Keys of a scene's KeySensors: sensors.ts.)
// Directions are those of the camera: right, up, back.

export type Direction = readonly [number, number, number];

export const KEY_DIRECTIONS: Readonly<Record<string, Direction>> = {
  KeyW: [0, 0, -1],
  ArrowUp: [0, 0, -1],
  KeyS: [0, 0, 1],
  ArrowDown: [0, 0, 1],
  KeyA: [-1, 0, 0],
  ArrowLeft: [-1, 0, 0],
  KeyD: [1, 0, 0],
  ArrowRight: [1, 0, 0],
  KeyE: [0, 1, 0],
  Space: [0, 1, 0],
  KeyQ: [0, -1, 0],
  ShiftLeft: [0, -1, 0],
  ShiftRight: [0, -1, 0],
};

/** Sticks do not rest exactly in the middle. */
const STICK_REST = 0.15;

/** Pressed keys. All are released when the window loses focus. */
export class Keys {
  private readonly down = new Set<string>();
  /** Keys are active only while walking or flying. */
  wanted = false;

  constructor(private readonly changed: () => void) {
    // In the capture phase: a movement key does nothing else.
    window.addEventListener("keydown", (event) => this.press(event), { capture: true });
    window.addEventListener("keyup", (event) => this.release(event.code));
    window.addEventListener("blur", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => this.releaseAll());
  }

  /** The direction of the pressed keys, of length 1 at most. */
  direction(): [number, number, number] {
    const sum: [number, number, number] = [0, 0, 0];
    for (const code of this.down) {
      KEY_DIRECTIONS[code]?.forEach((part, axis) => (sum[axis]! += part));
    }
    return shorten(sum);
  }

  releaseAll(): void {
    if (this.down.size === 0) return;
    this.down.clear();
    this.changed();
  }

  private press(event: KeyboardEvent): void {
    if (!this.wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.code in KEY_DIRECTIONS) || isTyping(event.target)) return;
    // A focused button is pressed by the space bar, as usual.
    if (event.code === "Space" && event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    if (event.repeat || this.down.has(event.code)) return;
    this.down.add(event.code);
    this.changed();
  }

  private release(code: string): void {
    if (this.down.delete(code)) this.changed();
  }
}

/** Returns true if a form element uses this key. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/**
 * The first gamepad: left stick or cross to move, right stick to look, shoulders for up and down.
 */
export function gamepad(): { direction: [number, number, number]; look: [number, number] } | null {
  const pad = navigator.getGamepads?.().find((one) => one?.connected);
  if (!pad) return null;
  const axis = (index: number) => {
    const value = pad.axes[index] ?? 0;
    return Math.abs(value) > STICK_REST ? value : 0;
  };
  const button = (index: number) => pad.buttons[index]?.value ?? 0;
  const up = Math.max(button(0), button(7)) - Math.max(button(1), button(6));
  const [right, back] = [button(15) - button(14), button(13) - button(12)];
  const direction = shorten([axis(0) + right, up, axis(1) + back]);
  return { direction, look: [axis(2), axis(3)] };
}

export function shorten(direction: [number, number, number]): [number, number, number] {
  const length = Math.hypot(...direction);
  if (length <= 1) return direction;
  return direction.map((part) => part / length) as [number, number, number];
}
