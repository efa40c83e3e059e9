// Keys in the numbers of Qt 3, which a KeySensor has (Ohlenburg 2003, C.3: "The values are identical to
// the keyboard codes of Trolltech Qt's"). crates/cli/src/keys.rs has the same table by other names.

export interface QtKey {
  value: number;
  state: number;
}

/** Qt::Key of keys that are no characters, by the browser's name. */
export const QT_NAMED: Readonly<Record<string, number>> = {
  Escape: 0x1000,
  Tab: 0x1001,
  Backspace: 0x1003,
  Enter: 0x1004,
  Insert: 0x1006,
  Delete: 0x1007,
  Pause: 0x1008,
  Home: 0x1010,
  End: 0x1011,
  ArrowLeft: 0x1012,
  ArrowUp: 0x1013,
  ArrowRight: 0x1014,
  ArrowDown: 0x1015,
  PageUp: 0x1016,
  PageDown: 0x1017,
  Shift: 0x1020,
  Control: 0x1021,
  Meta: 0x1022,
  Alt: 0x1023,
};

/** Qt::Key_Enter is the one beside the digits. */
const KEYPAD_ENTER = 0x1005;
const F1 = 0x1030;
const F_MAX = 35;

/** Qt::ButtonState of keys that are held. */
export const QT_HELD = { Shift: 0x100, Control: 0x200, Alt: 0x400, Meta: 0x800 } as const;

type Pressed = Pick<KeyboardEvent, "key" | "code" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/** The number that Qt has for this key; null if none. */
export function qtKey(event: Pressed): QtKey | null {
  const value = qtValue(event);
  if (value === null) return null;
  const held = (name: keyof typeof QT_HELD, down: boolean) =>
    // A key is not held while it is being pressed.
    down && event.key !== name ? QT_HELD[name] : 0;
  const state =
    held("Shift", event.shiftKey) +
    held("Control", event.ctrlKey) +
    held("Alt", event.altKey) +
    held("Meta", event.metaKey);
  return { value, state };
}

function qtValue({ key, code }: Pressed): number | null {
  if (code === "NumpadEnter") return KEYPAD_ENTER;
  const named = QT_NAMED[key];
  if (named !== undefined) return named;
  const number = /^F(\d{1,2})$/.exec(key)?.[1];
  if (number !== undefined && Number(number) >= 1 && Number(number) <= F_MAX) return F1 + Number(number) - 1;
  // Characters have their own number, as capitals; beyond Latin-1 Qt has none.
  if ([...key].length !== 1) return null;
  const capital = key.toUpperCase();
  const point = (capital.length === 1 ? capital : key).charCodeAt(0);
  return point >= 0x20 && point <= 0xff ? point : null;
}

const SHOWN: Readonly<Record<number, string>> = {
  0x20: "Space",
  0x1004: "⏎",
  0x1005: "⏎",
  0x1012: "←",
  0x1013: "↑",
  0x1014: "→",
  0x1015: "↓",
};

/** The label of a key. */
export function qtLabel({ value, state }: QtKey): string {
  const named = Object.entries(QT_NAMED).find(([, code]) => code === value)?.[0];
  const character = value > 0x20 && value <= 0xff ? String.fromCharCode(value) : undefined;
  const f = value >= F1 && value < F1 + F_MAX ? `F${value - F1 + 1}` : undefined;
  const name = SHOWN[value] ?? named ?? character ?? f ?? `0x${value.toString(16)}`;
  const held = Object.entries(QT_HELD).filter(([, bit]) => (state & bit) !== 0);
  return [...held.map(([word]) => (word === "Shift" ? "⇧" : `${word} `)), name].join("");
}
