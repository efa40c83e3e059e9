// The JSON messages of /view and of /ws?format=json: what is said, and checks that it is that.
// A check gives the message in our own types, or null; nothing behind it meets a surprise.
import { idOfText, type Id } from "../ids";

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export interface Form {
  half: Vec3;
  content: string | null;
}

export interface Recording {
  first: number;
  last: number;
  collisions: number[];
}

/** A shared world, a scene that one program runs, a scene that was checked, or a recording. */
export type WorldKind = "shared" | "scene" | "check" | "recording";

export interface World {
  type: "world";
  name: string;
  kind: WorldKind;
  ticksPerSecond: number;
  extent: [Vec3, Vec3];
  reach: number;
  /** The form of avatars; null if nobody can walk in. */
  avatar: number | null;
  forms: Form[];
  names: Map<string, string>;
  /** Exact poses of immovable objects, where they are known: frames round them. */
  poses: Map<Id, [Vec3, Quat]>;
  controls: Set<string>;
  /** Keys that a scene listens to. */
  keys: SceneKey[];
  recording: Recording | null;
}

/** A key in the numbers of Qt 3, and what it does. */
export interface SceneKey {
  value: number;
  state: number;
  does: string;
}

export interface Leaf {
  node: number;
  min: Vec3;
  max: Vec3;
}

/** Who computes what in one group. */
export interface GroupRegions {
  group: number;
  view: number;
  leader: number | null;
  nodes: number[];
  leaves: Leaf[];
}

export interface Regions {
  type: "regions";
  /** The group that the door follows. */
  followed: GroupRegions;
  others: GroupRegions[];
}

export interface Picked {
  type: "picked";
  id: Id | null;
  name: string | null;
  faces: number | null;
  face: number | null;
  class: string | null;
  group: number | null;
  owner: number | null;
  velocity: Vec3 | null;
}

export interface Contacts {
  type: "contacts";
  id: Id;
  tick: number;
  with: { id: Id; faces: [number, number][]; segments: [Vec3, Vec3][] }[];
  near: { id: Id; distance: number; points: [Vec3, Vec3] | null }[];
}

/** Two parts that touch or are too close. */
export interface Finding {
  kind: string;
  /** Objects of each part; the first of each is the one that was measured. */
  a: Id[];
  b: Id[];
  distance: number;
  points: [Vec3, Vec3];
  segments: [Vec3, Vec3][];
}

export interface Findings {
  type: "findings";
  of: "check" | "static";
  clearance: number | null;
  unit: string;
  complete: boolean;
  findings: Finding[];
}

export interface Demo {
  type: "demo";
  nodes: number[];
  delayMs: number;
  loss: number;
  bodies: number;
}

export interface Replay {
  type: "replay";
  tick: number;
  playing: boolean;
  factor: number;
}

export type ViewSays =
  | World
  | Regions
  | Picked
  | Contacts
  | Findings
  | Demo
  | Replay
  | { type: "held"; tick: number | null; error: string | null }
  | { type: "status"; status: Fields }
  | { type: "controlled"; do: string; error: string | null }
  | { type: "refused"; why: string };

export type Fields = Record<string, unknown>;

/** What an object of JSON is; anything else is empty. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function vec3(value: unknown): Vec3 | null {
  const parts = list(value).map(number);
  return parts.length === 3 && parts.every((part) => part !== null) ? (parts as Vec3) : null;
}

export function quat(value: unknown): Quat | null {
  const parts = list(value).map(number);
  return parts.length === 4 && parts.every((part) => part !== null) ? (parts as Quat) : null;
}

/** Those entries of a list that `read` can read; null as soon as one cannot be. */
function all<T>(value: unknown, read: (entry: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const entries: T[] = [];
  for (const entry of value) {
    const one = read(entry);
    if (one === null) return null;
    entries.push(one);
  }
  return entries;
}

function pairOf<T>(value: unknown, read: (entry: unknown) => T | null): [T, T] | null {
  const both = all(value, read);
  return both?.length === 2 ? (both as [T, T]) : null;
}

/** JSON text as an object with a type; null if it is none. */
export function parse(message: string): Fields | null {
  try {
    const said = fields(JSON.parse(message));
    return typeof said.type === "string" ? said : null;
  } catch {
    return null;
  }
}

const READERS: Record<string, (said: Fields) => ViewSays | null> = {
  world: readWorld,
  regions: readRegions,
  picked: readPicked,
  contacts: readContacts,
  findings: readFindings,
  demo: readDemo,
  replay: readReplay,
  held: (said) => ({ type: "held", tick: number(said.tick), error: text(said.error) }),
  status: (said) => ({ type: "status", status: fields(said.status) }),
  controlled: (said) => ({
    type: "controlled",
    do: text(said.do) ?? "",
    error: text(said.error),
  }),
  refused: (said) => ({ type: "refused", why: text(said.why) ?? "refused" }),
};

/** A message of /view; null if it is malformed, "unknown" if it is of a type we do not know. */
export function readView(message: string): ViewSays | "unknown" | null {
  const said = parse(message);
  if (said === null) return null;
  const type = said.type as string;
  return Object.hasOwn(READERS, type) ? READERS[type]!(said) : "unknown";
}

function readForm(value: unknown): Form | null {
  const said = fields(value);
  const half = vec3(said.half);
  return half && half.every((edge) => edge >= 0) ? { half, content: text(said.content) } : null;
}

function readRecording(value: unknown): Recording | null {
  const said = fields(value);
  const [first, last] = [number(said.first), number(said.last)];
  if (first === null || last === null || last < first) return null;
  const ticks = list(said.collisions).map(number).filter((tick) => tick !== null);
  return { first, last, collisions: ticks.sort((a, b) => a - b) };
}

function readWorld(said: Fields): World | null {
  const extent = pairOf(said.extent, vec3);
  const forms = all(said.forms, readForm);
  const rate = number(said.ticks_per_second);
  if (!extent || !forms || rate === null || rate <= 0) return null;
  const named = Object.entries(fields(said.names));
  const names = named.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const recording = readRecording(said.recording);
  return {
    type: "world",
    name: text(said.name) ?? "world",
    kind: KINDS.find((kind) => kind === said.kind) ?? (recording ? "recording" : "shared"),
    ticksPerSecond: rate,
    extent,
    reach: number(said.reach) ?? 0,
    avatar: number(said.avatar),
    forms,
    names: new Map(names),
    poses: readPoses(fields(said.poses)),
    controls: new Set(list(said.controls).map(text).filter((word) => word !== null)),
    keys: (all(said.keys ?? [], readKey) ?? []).slice(0, KEYS_MAX),
    recording,
  };
}

const KINDS: readonly WorldKind[] = ["shared", "scene", "check", "recording"];

function readPoses(said: Fields): Map<Id, [Vec3, Quat]> {
  const poses = new Map<Id, [Vec3, Quat]>();
  for (const [key, value] of Object.entries(said)) {
    const [id, parts] = [idOfText(key), list(value)];
    const [position, rotation] = [vec3(parts[0]), quat(parts[1])];
    if (id !== null && position && rotation) poses.set(id, [position, rotation]);
  }
  return poses;
}

/** More keys than any keyboard has are nonsense. */
const KEYS_MAX = 64;

function readKey(value: unknown): SceneKey | null {
  const said = fields(value);
  const [code, state] = [number(said.value), number(said.state)];
  return code === null || state === null ? null : { value: code, state, does: text(said.does) ?? "" };
}

function readLeaf(value: unknown): Leaf | null {
  const said = fields(value);
  const [node, min, max] = [number(said.node), vec3(said.min), vec3(said.max)];
  return node !== null && min && max ? { node, min, max } : null;
}

function readRegions(said: Fields): Regions | null {
  const followed = readGroup(said);
  const others = all(said.others ?? [], (value) => readGroup(fields(value)));
  return followed && others ? { type: "regions", followed, others } : null;
}

function readGroup(said: Fields): GroupRegions | null {
  const leaves = all(said.leaves, readLeaf);
  const nodes = all(said.nodes, number);
  const group = number(said.group);
  if (!leaves || !nodes || group === null) return null;
  const view = number(said.view) ?? 0;
  return { group, view, leader: number(said.leader), nodes, leaves };
}

function readPicked(said: Fields): Picked | null {
  const id = idOfText(said.id);
  if (id === null && said.id !== null) return null;
  return {
    type: "picked",
    id,
    name: text(said.name),
    faces: number(said.faces),
    face: number(said.face),
    class: text(said.class),
    group: number(said.group),
    owner: number(said.owner),
    velocity: vec3(said.velocity),
  };
}

function readContacts(said: Fields): Contacts | null {
  const id = idOfText(said.id);
  const touching = all(said.with ?? [], (value) => {
    const one = fields(value);
    const other = idOfText(one.id);
    const faces = all(one.faces ?? [], (pair) => pairOf(pair, number));
    const segments = all(one.segments ?? [], (pair) => pairOf(pair, vec3));
    return other !== null && faces && segments ? { id: other, faces, segments } : null;
  });
  const near = all(said.near ?? [], (value) => {
    const one = fields(value);
    const [other, distance] = [idOfText(one.id), number(one.distance)];
    const points = pairOf(one.points, vec3);
    return other !== null && distance !== null ? { id: other, distance, points } : null;
  });
  const tick = number(said.tick);
  if (id === null || tick === null || !touching || !near) return null;
  return { type: "contacts", id, tick, with: touching, near };
}

function readFinding(value: unknown): Finding | null {
  const said = fields(value);
  const [a, b] = [all(said.a, idOfText), all(said.b, idOfText)];
  const [kind, distance] = [text(said.kind), number(said.distance)];
  const points = pairOf(said.points, vec3);
  const segments = all(said.segments ?? [], (pair) => pairOf(pair, vec3));
  if (!a?.length || !b?.length || kind === null || distance === null || !points || !segments) {
    return null;
  }
  return { kind, a, b, distance, points, segments };
}

function readFindings(said: Fields): Findings | null {
  const findings = all(said.findings, readFinding);
  if (!findings) return null;
  return {
    type: "findings",
    of: said.of === "check" ? "check" : "static",
    clearance: number(said.clearance),
    unit: text(said.unit) ?? "",
    complete: said.complete !== false,
    findings,
  };
}

function readDemo(said: Fields): Demo | null {
  const network = fields(said.network);
  return {
    type: "demo",
    nodes: list(said.nodes).map(number).filter((node) => node !== null),
    delayMs: number(network.delay_ms) ?? 0,
    loss: number(network.loss) ?? 0,
    bodies: number(said.bodies) ?? 0,
  };
}

function readReplay(said: Fields): Replay | null {
  const tick = number(said.tick);
  if (tick === null) return null;
  return { type: "replay", tick, playing: said.playing === true, factor: number(said.factor) ?? 1 };
}
