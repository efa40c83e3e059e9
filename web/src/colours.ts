// The meaning of colours. Red and yellow are reserved for collisions and clearance, so no node has
// them. Text is for the panel, numbers from 0 to 1 are for the scene.

const NODE_COLOURS = [
  "#4f8fe0",
  "#35a37e",
  "#9b7ad6",
  "#2fa9c2",
  "#c976b4",
  "#a2805f",
  "#7c9a3d",
  "#7387a8",
];

export const TOUCHING = "#e5383b";
export const CLOSE = "#f0c419";
export const SELECTED = "#ff9f1c";
export const NO_NODE = "#8a929c";
/** The user's avatar. */
export const OWN = "#ff3fb4";
/** The two parts of a finding. */
export const PART_A = "#2f7de1";
export const PART_B = "#f28c28";

/** Parts of a scene have no node; soft colours distinguish neighbours. */
const PART_COLOURS = [
  "#9fb2c8",
  "#b7b0cf",
  "#a9c4b4",
  "#c9b9a4",
  "#9cc3c9",
  "#c2a9b8",
  "#b9c29b",
  "#a7acb8",
];

export function partColour(id: number | bigint): string {
  const place = typeof id === "number" ? id % PART_COLOURS.length : 0;
  return PART_COLOURS[place]!;
}

/** Label, colour and severity of each kind of finding, in the order of the table. */
export const FINDING_KINDS: Readonly<Record<string, { label: string; colour: string }>> = {
  overlap: { label: "overlap", colour: "#e5383b" },
  inside: { label: "inside", colour: "#c2185b" },
  a_inside_b: { label: "inside", colour: "#c2185b" },
  b_inside_a: { label: "inside", colour: "#c2185b" },
  identical: { label: "identical", colour: "#8e44ad" },
  touch: { label: "touch", colour: "#f2711c" },
  contact: { label: "contact", colour: "#2a9d8f" },
  too_close: { label: "too close", colour: "#e0b100" },
};

export function findingKind(kind: string): { label: string; colour: string } {
  return FINDING_KINDS[kind] ?? { label: kind.replaceAll("_", " "), colour: "#e5383b" };
}

/** Nodes keep their colour while the page is open: node numbers are never reused. */
const given = new Map<number, string>();

/** The colour of a node: the first that no living node has, otherwise a shared one. */
export function nodeColour(node: number, living: readonly number[] = []): string {
  const had = given.get(node);
  if (had !== undefined) return had;
  const taken = new Set(living.map((one) => given.get(one)));
  const colour =
    NODE_COLOURS.find((one) => !taken.has(one)) ?? NODE_COLOURS[node % NODE_COLOURS.length]!;
  given.set(node, colour);
  return colour;
}

const numbers = new Map<string, readonly [number, number, number]>();

/** Red, green and blue of `#rrggbb`, from 0 to 1. */
export function rgb(colour: string): readonly [number, number, number] {
  let known = numbers.get(colour);
  if (known === undefined) {
    const whole = Number.parseInt(colour.slice(1), 16);
    known = [(whole >> 16) / 255, ((whole >> 8) & 255) / 255, (whole & 255) / 255];
    numbers.set(colour, known);
  }
  return known;
}

const STAGES = ["#4f8fe0", "#35a37e", "#9b7ad6", "#2fa9c2", "#c976b4", "#a2805f", "#7c9a3d"];

/** The colour of a stage, by its index. */
export function stageColour(index: number): string {
  return STAGES[index % STAGES.length]!;
}
