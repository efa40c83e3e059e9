// `window.jostle`: read-only access for tests and scripts.
import { nodeColour } from "./colours";
import { idOfText } from "./ids";
import type { Page } from "./main";
import type { Vec3 } from "./protocol/messages";

export interface Outside {
  readonly ready: boolean;
  readonly world: string | null;
  readonly extent: [Vec3, Vec3] | null;
  readonly tick: number;
  readonly bodies: number;
  readonly drawn: number;
  readonly fps: number;
  /** Picture pixels per screen pixel: below 1 where rendering is slow. */
  readonly fineness: number;
  readonly faults: number;
  readonly touching: number;
  /** Drawn contact faces and segments of the selected body. */
  readonly contacts: { faces: number; segments: number };
  /** Listed findings, and what is drawn of the current one. */
  readonly findings: { listed: number; current: string[] | null; points: number; lines: number };
  /** Seconds that exceed the chart. */
  readonly clipped: number;
  /** Objects that touch it, from the pairs that determine its colour. */
  partners(id: string): string[];
  /** Returns true if it is drawn as a surface, neither hidden nor by its edges only. */
  solid(id: string): boolean;
  /** Whether the picture is frozen, and whether it can be queried. */
  readonly frozen: boolean;
  readonly askable: boolean;
  ids(): string[];
  regions(): { node: number; group: number; colour: string; min: Vec3; max: Vec3 }[];
  avatar(): { id: string; position: Vec3 } | null;
  selected(): string | null;
  /** The id of the object with this name. */
  named(name: string): string | null;
  /** Its node and group. */
  owner(id: string): { node: number; group: number } | null;
  position(id: string): Vec3 | null;
  velocity(id: string): Vec3 | null;
  /** Position and direction of the camera. */
  camera(): { position: Vec3; yaw: number; distance: number };
  /** The position of a body in the window. */
  screenOf(id: string): [number, number] | null;
}

declare global {
  interface Window {
    jostle?: Outside;
  }
}

export function showOutside(page: Page): void {
  const slot = (text: string) => {
    const id = idOfText(text);
    return id === null ? undefined : page.shown.slots.get(id);
  };
  const position = (id: string) => {
    const found = slot(id);
    return found === undefined ? null : page.shown.position(found);
  };
  window.jostle = Object.freeze<Outside>({
    get ready() {
      return page.world !== null && page.shown.count > 0;
    },
    get world() {
      return page.world?.name ?? null;
    },
    get extent() {
      return page.world?.extent ?? null;
    },
    get tick() {
      return page.clock.tick;
    },
    get bodies() {
      return page.shown.count;
    },
    get drawn() {
      return page.view.bodies.drawn;
    },
    get fps() {
      return page.pace.fps;
    },
    get fineness() {
      return page.view.fineness;
    },
    get faults() {
      return page.faults;
    },
    get touching() {
      return page.shown.touchingPairs;
    },
    get contacts() {
      const { faces, segments } = page.view.selection;
      return { faces, segments };
    },
    get findings() {
      const { current, count } = page.findings;
      const { points, lines } = page.view.contact;
      const parts = current && [...current.a, ...current.b].map(String);
      return { listed: count, current: parts, points, lines };
    },
    get clipped() {
      return page.panel.clipped;
    },
    partners: (id) => {
      const found = idOfText(id);
      return found === null ? [] : page.shown.partners(found).map(String);
    },
    solid: (id) => {
      const [found, own] = [slot(id), idOfText(id)];
      return found !== undefined && own !== null && page.visibility.shows(own) && !page.view.isWall(found);
    },
    get frozen() {
      return page.freeze.store !== null;
    },
    get askable() {
      return page.freeze.isAskable;
    },
    ids: () => [...page.shown.slots.keys()].map(String),
    regions: () =>
      page.regions.leaves.map(({ node, group, min, max }) => {
        return { node, group, min, max, colour: nodeColour(node) };
      }),
    avatar: () => {
      const id = page.walk.avatar;
      const own = page.walk.pose(performance.now());
      return id === null || own === null ? null : { id: String(id), position: own.position };
    },
    selected: () => (page.selected === null ? null : String(page.selected)),
    named: (name) => {
      const names = [...(page.world?.names ?? [])];
      return names.find(([id, known]) => known === name && slot(id) !== undefined)?.[0] ?? null;
    },
    owner: (id) => {
      const found = slot(id);
      if (found === undefined) return null;
      const owner = page.regions.ownerOf(page.shown.position(found), page.shown.group(found));
      return owner && { node: owner.node, group: owner.group };
    },
    position,
    velocity: (id) => {
      const found = slot(id);
      return found === undefined ? null : page.shown.velocity(found);
    },
    camera: () => {
      const { camera, yaw, shownAway } = page.viewpoint;
      return { position: camera.position.toArray(), yaw, distance: shownAway };
    },
    screenOf: (id) => {
      const place = position(id);
      return place && page.view.screen(place, page.viewpoint.camera);
    },
  });
}
