// JSON messages of /view and /ws?format=json, validated into our own types; null if malformed.
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

/** A shared world, a scene that one program runs, a checked scene, or a recording. */
export type WorldKind = "shared" | "scene" | "check" | "recording";

export interface World {
  type: "world";
  name: string;
  kind: WorldKind;
  ticksPerSecond: number;
  extent: [Vec3, Vec3];
  reach: number;
  /** The shape of avatars; null if avatars cannot enter. */
  avatar: number | null;
  forms: Form[];
  names: Map<string, string>;
  /** Exact poses of immovable objects, where known: frames round them. */
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

/** The regions of one group. */
export interface GroupRegions {
  group: number;
  view: number;
  leader: number | null;
  nodes: number[];
  leaves: Leaf[];
}

export interface Regions {
  type: "regions";
  /** The group that the server follows. */
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

export type ViewMessage =
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

/** The fields of a JSON object; empty for anything else. */
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

/** All entries of a list; null if one of them is malformed. */
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

/** A JSON object with a type; null if malformed. */
export function parse(message: string): Fields | null {
  try {
    const data = fields(JSON.parse(message));
    return typeof data.type === "string" ? data : null;
  } catch {
    return null;
  }
}

const READERS: Record<string, (data: Fields) => ViewMessage | null> = {
  world: readWorld,
  regions: readRegions,
  picked: readPicked,
  contacts: readContacts,
  findings: readFindings,
  demo: readDemo,
  replay: readReplay,
  held: (data) => ({ type: "held", tick: number(data.tick), error: text(data.error) }),
  status: (data) => ({ type: "status", status: fields(data.status) }),
  controlled: (data) => ({
    type: "controlled",
    do: text(data.do) ?? "",
    error: text(data.error),
  }),
  refused: (data) => ({ type: "refused", why: text(data.why) ?? "refused" }),
};

/** A message of /view; null if malformed, "unknown" for an unknown type. */
export function readView(message: string): ViewMessage | "unknown" | null {
  const data = parse(message);
  if (data === null) return null;
  const type = data.type as string;
  return Object.hasOwn(READERS, type) ? READERS[type]!(data) : "unknown";
}

function readForm(value: unknown): Form | null {
  const data = fields(value);
  const half = vec3(data.half);
  return half && half.every((edge) => edge >= 0) ? { half, content: text(data.content) } : null;
}

function readRecording(value: unknown): Recording | null {
  const data = fields(value);
  const [first, last] = [number(data.first), number(data.last)];
  if (first === null || last === null || last < first) return null;
  const ticks = list(data.collisions).map(number).filter((tick) => tick !== null);
  return { first, last, collisions: ticks.sort((a, b) => a - b) };
}

function readWorld(data: Fields): World | null {
  const extent = pairOf(data.extent, vec3);
  const forms = all(data.forms, readForm);
  const rate = number(data.ticks_per_second);
  if (!extent || !forms || rate === null || rate <= 0) return null;
  const named = Object.entries(fields(data.names));
  const names = named.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const recording = readRecording(data.recording);
  return {
    type: "world",
    name: text(data.name) ?? "world",
    kind: KINDS.find((kind) => kind === data.kind) ?? (recording ? "recording" : "shared"),
    ticksPerSecond: rate,
    extent,
    reach: number(data.reach) ?? 0,
    avatar: number(data.avatar),
    forms,
    names: new Map(names),
    poses: readPoses(fields(data.poses)),
    controls: new Set(list(data.controls).map(text).filter((word) => word !== null)),
    keys: (all(data.keys ?? [], readKey) ?? []).slice(0, KEYS_MAX),
    recording,
  };
}

const KINDS: readonly WorldKind[] = ["shared", "scene", "check", "recording"];

function readPoses(data: Fields): Map<Id, [Vec3, Quat]> {
  const poses = new Map<Id, [Vec3, Quat]>();
  for (const [key, value] of Object.entries(data)) {
    const [id, parts] = [idOfText(key), list(value)];
    const [position, rotation] = [vec3(parts[0]), quat(parts[1])];
    if (id !== null && position && rotation) poses.set(id, [position, rotation]);
  }
  return poses;
}

/** Keys of a scene, at most. */
const KEYS_MAX = 64;

function readKey(value: unknown): SceneKey | null {
  const data = fields(value);
  const [code, state] = [number(data.value), number(data.state)];
  return code === null || state === null ? null : { value: code, state, does: text(data.does) ?? "" };
}

function readLeaf(value: unknown): Leaf | null {
  const data = fields(value);
  const [node, min, max] = [number(data.node), vec3(data.min), vec3(data.max)];
  return node !== null && min && max ? { node, min, max } : null;
}

function readRegions(data: Fields): Regions | null {
  const followed = readGroup(data);
  const others = all(data.others ?? [], (value) => readGroup(fields(value)));
  return followed && others ? { type: "regions", followed, others } : null;
}

function readGroup(data: Fields): GroupRegions | null {
  const leaves = all(data.leaves, readLeaf);
  const nodes = all(data.nodes, number);
  const group = number(data.group);
  if (!leaves || !nodes || group === null) return null;
  const view = number(data.view) ?? 0;
  return { group, view, leader: number(data.leader), nodes, leaves };
}

function readPicked(data: Fields): Picked | null {
  const id = idOfText(data.id);
  if (id === null && data.id !== null) return null;
  return {
    type: "picked",
    id,
    name: text(data.name),
    faces: number(data.faces),
    face: number(data.face),
    class: text(data.class),
    group: number(data.group),
    owner: number(data.owner),
    velocity: vec3(data.velocity),
  };
}

function readContacts(data: Fields): Contacts | null {
  const id = idOfText(data.id);
  const touching = all(data.with ?? [], (value) => {
    const one = fields(value);
    const other = idOfText(one.id);
    const faces = all(one.faces ?? [], (pair) => pairOf(pair, number));
    const segments = all(one.segments ?? [], (pair) => pairOf(pair, vec3));
    return other !== null && faces && segments ? { id: other, faces, segments } : null;
  });
  const near = all(data.near ?? [], (value) => {
    const one = fields(value);
    const [other, distance] = [idOfText(one.id), number(one.distance)];
    const points = pairOf(one.points, vec3);
    return other !== null && distance !== null ? { id: other, distance, points } : null;
  });
  const tick = number(data.tick);
  if (id === null || tick === null || !touching || !near) return null;
  return { type: "contacts", id, tick, with: touching, near };
}

function readFinding(value: unknown): Finding | null {
  const data = fields(value);
  const [a, b] = [all(data.a, idOfText), all(data.b, idOfText)];
  const [kind, distance] = [text(data.kind), number(data.distance)];
  const points = pairOf(data.points, vec3);
  const segments = all(data.segments ?? [], (pair) => pairOf(pair, vec3));
  if (!a?.length || !b?.length || kind === null || distance === null || !points || !segments) {
    return null;
  }
  return { kind, a, b, distance, points, segments };
}

function readFindings(data: Fields): Findings | null {
  const findings = all(data.findings, readFinding);
  if (!findings) return null;
  return {
    type: "findings",
    of: data.of === "check" ? "check" : "static",
    clearance: number(data.clearance),
    unit: text(data.unit) ?? "",
    complete: data.complete !== false,
    findings,
  };
}

function readDemo(data: Fields): Demo | null {
  const network = fields(data.network);
  return {
    type: "demo",
    nodes: list(data.nodes).map(number).filter((node) => node !== null),
    delayMs: number(network.delay_ms) ?? 0,
    loss: number(network.loss) ?? 0,
    bodies: number(data.bodies) ?? 0,
  };
}

function readReplay(data: Fields): Replay | null {
  const tick = number(data.tick);
  if (tick === null) return null;
  return { type: "replay", tick, playing: data.playing === true, factor: number(data.factor) ?? 1 };
}
