// Keys in Qt's numbers, against the table of the command line.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { qtKey, qtLabel, QT_HELD, QT_NAMED } from "../src/walk/qt";

const RUST = readFileSync(fileURLToPath(new URL("../../crates/cli/src/keys.rs", import.meta.url)), "utf8");

/** `("name", 0x1000)` in an array of the Rust source. */
function table(name: string): Map<string, number> {
  const body = new RegExp(`const ${name}[^=]*=\\s*\\[([^\\]]*)\\]`).exec(RUST)?.[1] ?? "";
  const rows = [...body.matchAll(/\("(\w+)", 0x([0-9a-f]+)\)/g)];
  return new Map(rows.map(([, key, code]) => [key!, Number.parseInt(code!, 16)]));
}

const pressed = (key: string, more: object = {}) =>
  qtKey({ key, code: "", shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more });

test("keys have the numbers that the command line gives them", () => {
  const rust = table("NAMED");
  expect(rust.size).toBeGreaterThan(15);
  const names: Record<string, string> = {
    ArrowLeft: "left",
    ArrowUp: "up",
    ArrowRight: "right",
    ArrowDown: "down",
    Enter: "return",
  };
  for (const [key, value] of Object.entries(QT_NAMED)) {
    // The only key without a name on the command line.
    if (key === "Meta") continue;
    expect([key, value]).toEqual([key, rust.get(names[key] ?? key.toLowerCase())]);
  }
  expect(pressed(" ")?.value).toBe(rust.get("space"));
  expect(pressed("Enter", { code: "NumpadEnter" })?.value).toBe(rust.get("enter"));
  const held = table("HELD");
  for (const [key, value] of Object.entries(QT_HELD)) expect(held.get(key.toLowerCase())).toBe(value);
});

test("characters are capitals, with modifier keys beside them", () => {
  expect(pressed("a")).toEqual({ value: 65, state: 0 });
  expect(pressed("A", { shiftKey: true })).toEqual({ value: 65, state: 0x100 });
  expect(pressed("ArrowRight", { shiftKey: true, altKey: true })).toEqual({ value: 0x1014, state: 0x500 });
  // A key is not held while it is being pressed.
  expect(pressed("Shift", { shiftKey: true })).toEqual({ value: 0x1020, state: 0 });
  expect(pressed("F12")).toEqual({ value: 0x103b, state: 0 });
  expect(pressed("ä")).toEqual({ value: 0xc4, state: 0 });
  for (const key of ["Dead", "Ω", "F99", "MediaPlayPause", "", "ß".repeat(2)]) expect(pressed(key)).toBeNull();
});

test("labels are short", () => {
  expect(qtLabel({ value: 0x1014, state: 0x100 })).toBe("⇧→");
  expect(qtLabel({ value: 65, state: 0x200 })).toBe("Control A");
  expect(qtLabel({ value: 0x103b, state: 0 })).toBe("F12");
  expect(qtLabel({ value: 99999, state: 0 })).toBe("0x1869f");
});
