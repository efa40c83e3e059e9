// The picture: the scene graph, and its adaptive resolution.
import { Color, Raycaster, Scene, Vector2, Vector3, WebGLRenderer, type PerspectiveCamera } from "three";
import { OWN } from "../colours";
import { Class } from "../protocol/frame";
import type { Vec3, World } from "../protocol/messages";
import type { Palette } from "../theme";
import type { Id } from "../ids";
import type { RegionMap } from "../world/regions";
import type { Store } from "../world/store";
import { Auras } from "./auras";
import { Bodies, type Wanted } from "./bodies";
import { boxAroundAll, type Box } from "./bounds";
import { ContactView } from "./contact";
import { Forms } from "./forms";
import { clearAir } from "./instances";
import { Label } from "./label";
import { Selection } from "./selection";
import { FAR_PIXELS, FAR_PIXELS_SLOW } from "./impostors";
import { Surroundings } from "./surroundings";
import { Territories } from "./territories";

export interface Layers extends Wanted {
  regions: boolean;
  auras: boolean;
}

/** Frame rates below which resolution is reduced, and above which it is increased. */
const SLOW_FPS = 26;
const FAST_FPS = 34;
/** Checks (four a second) before a change. */
const SLOW_CHECKS = 6;
const FAST_CHECKS = 8;
const PATIENCE_MAX = 500;
/** Picture pixels per screen pixel, at least. */
const FINENESS_MIN = 0.75;

export class View {
  readonly forms: Forms;
  readonly bodies: Bodies;
  readonly selection: Selection;
  /** The contact of a finding. */
  readonly contact: ContactView;
  private readonly you: Label;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly air = clearAir();
  private readonly surroundings: Surroundings;
  private readonly territories: Territories;
  private readonly auras: Auras;
  /** Pixels of the picture for one of the screen. */
  fineness: number;
  private slow = 0;
  private fast = 0;
  private patience = FAST_CHECKS;
  private reach = 0;
  private size = 1;
  private readonly middle = new Vector3();

  constructor(private readonly canvas: HTMLCanvasElement) {
    const software = isSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !software, powerPreference: "default" });
    this.fineness = software ? 1 : Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(this.fineness);
    this.renderer.info.autoReset = true;
    this.surroundings = new Surroundings(this.scene);
    this.territories = new Territories(this.scene);
    this.forms = new Forms(this.scene, this.air);
    this.bodies = new Bodies(this.forms, (slot) => this.surroundings.surrounds(slot));
    this.auras = new Auras(this.scene);
    this.selection = new Selection(this.scene);
    this.contact = new ContactView(this.scene);
    this.you = new Label(this.scene);
    this.you.write("you", OWN);
  }

  paint(palette: Palette): void {
    this.scene.background = new Color(palette.background);
    const haze = new Color().setStyle(palette.background, "");
    this.air.haze.value.set(haze.r, haze.g, haze.b);
    this.surroundings.paint(palette);
    this.territories.paint(palette);
    this.auras.paint(palette.aura);
  }

  load(world: World): void {
    const [low, high] = world.extent;
    const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    this.size = Math.max(size, 1);
    this.middle.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    this.reach = world.reach;
    this.selection.clear();
    this.contact.clear();
    this.surroundings.load(world.extent, world.kind !== "scene" && world.kind !== "check");
    this.territories.load(low[1], this.surroundings.floorHeight);
    this.forms.load(world);
  }

  /** The ground of a scene lies right below its parts, however far its extent was rounded up. */
  ground(box: Box): void {
    this.surroundings.load(box, false);
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height, false);
  }

  /** Adapts the resolution to the frame rate. */
  adapt(fps: number): void {
    this.slow = fps < SLOW_FPS ? this.slow + 1 : 0;
    this.fast = fps > FAST_FPS ? this.fast + 1 : 0;
    if (this.slow >= SLOW_CHECKS && this.fineness > FINENESS_MIN) {
      this.refine(this.fineness > 1 ? 1 : FINENESS_MIN);
      // After each failed attempt the next one comes later.
      this.patience = Math.min(this.patience * 2, PATIENCE_MAX);
    } else if (this.fast >= this.patience && this.fineness < 1) this.refine(1);
  }

  private refine(fineness: number): void {
    this.slow = 0;
    this.fast = 0;
    this.fineness = fineness;
    this.bodies.farPixels = fineness < 1 ? FAR_PIXELS_SLOW : FAR_PIXELS;
    this.renderer.setPixelRatio(fineness);
  }

  draw(store: Store, regions: RegionMap, camera: PerspectiveCamera, layers: Layers): void {
    // The haze is thinner from far away.
    const distance = camera.position.distanceTo(this.middle);
    this.air.hazeDepth.value = (this.size + distance) * 1.7;
    this.surroundings.follow(store, this.forms);
    this.territories.follow(regions);
    this.territories.group.visible = layers.regions;
    this.surroundings.cover(layers.regions && this.territories.coversGround);
    this.auras.draw(store, this.reach, layers.auras);
    this.forms.impostors.pixelsPerUnit(this.renderer.domElement.height, camera.fov);
    this.bodies.draw(store, regions, camera, layers);
    this.selection.draw(store, this.forms, layers.selected);
    this.drawYou(store, layers.own);
    this.renderer.render(this.scene, camera);
  }

  /** The box around everything that is shown. */
  bounds(store: Store, extent: Box): Box {
    return boxAroundAll(store, this.forms.looks, extent);
  }

  /** Returns true for a wall around the world, of which only edges are drawn. */
  isWall(slot: number): boolean {
    return this.surroundings.surrounds(slot);
  }

  /** Shapes of which only edges are drawn: a click passes through them. */
  through(store: Store): number[] {
    return this.surroundings.forms(store);
  }

  private drawYou(store: Store, own: Id | null): void {
    const slot = own === null ? undefined : store.slots.get(own);
    const there = slot !== undefined && store.classes[slot] !== Class.Absent;
    this.you.visible = there;
    if (slot === undefined || !there) return;
    const [x, y, z] = store.position(slot);
    const radius = this.forms.looks[store.forms[slot]!]?.half[1] ?? 0.5;
    this.you.place([x, y + radius * 1.2, z]);
  }

  /** The ray through a point of the window. */
  ray(x: number, y: number, camera: PerspectiveCamera): { origin: Vec3; direction: Vec3 } {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const point = new Vector2(((x - left) / width) * 2 - 1, 1 - ((y - top) / height) * 2);
    const caster = new Raycaster();
    caster.setFromCamera(point, camera);
    const { origin, direction } = caster.ray;
    return { origin: origin.toArray(), direction: direction.toArray() };
  }

  /** The position of a place in the window; null if it is behind the camera. */
  screen(place: Vec3, camera: PerspectiveCamera): [number, number] | null {
    const seen = new Vector3(...place).project(camera);
    if (seen.z > 1) return null;
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return [left + ((seen.x + 1) / 2) * width, top + ((1 - seen.y) / 2) * height];
  }
}

/** Returns true without a graphics card: then antialiasing costs too much. */
function isSoftware(): boolean {
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) return false;
  const more = probe.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = more ? probe.getParameter(more.UNMASKED_RENDERER_WEBGL) : "";
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(String(name));
}
