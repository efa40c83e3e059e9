// Which colour means what. Red and yellow are kept for collisions and clearance, so no node has
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
export const NOBODY = "#8a929c";

/** Nodes keep their colour for as long as the page lives: numbers are never given twice. */
const given = new Map<number, string>();

/** The colour of a node: the first that no living node has, else one that is shared. */
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

/** The colour of a stage of a step, by its place in the list. */
export function stageColour(index: number): string {
  return STAGES[index % STAGES.length]!;
}
