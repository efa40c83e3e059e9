// Shapes as they are drawn: for each one its triangles, instances, impostor pictures and size.
// Meshes are fetched by digest, so they are cached forever.
import { DoubleSide, FrontSide, type Scene } from "three";
import { boxMesh, decodeMesh, type MeshData } from "../protocol/mesh";
import type { Form, Vec3, World } from "../protocol/messages";
import { creased, isClosedOutward } from "./geometry";
import { LAYER_BOX, LAYER_NONE, Impostors } from "./impostors";
import { Instances, type Air } from "./instances";

const CACHE = "jostle-meshes-1";

export interface Look {
  form: Form;
  mesh: MeshData;
  near: Instances;
  /** The layer of its impostor pictures; none if it is always drawn in full. */
  layer: number;
  /** Radius of its bounding sphere. */
  radius: number;
  /** And half the edges of a box. */
  half: readonly [number, number, number];
  /** The box around it, in its own axes. */
  box: readonly [Vec3, Vec3];
  /** By how much the geometry is stretched: boxes share one. */
  scale: readonly [number, number, number];
}

export class Forms {
  looks: Look[] = [];
  /** Meshes that could not be fetched: boxes are drawn instead. */
  missing = 0;
  /** Far bodies of all shapes. */
  readonly impostors: Impostors;
  private readonly box: Instances;
  private readonly parts: Instances[] = [];
  private loading = 0;
  /** Increases when a mesh arrives: sizes change then. */
  version = 0;

  constructor(
    private readonly scene: Scene,
    private readonly air: Air,
  ) {
    this.box = new Instances(creased(boxMesh([1, 1, 1])), air, scene);
    this.impostors = new Impostors(air, scene);
  }

  /** All instances, each once. */
  *instances(): Iterable<Instances> {
    for (const one of [this.box, ...this.parts]) {
      yield one;
      if (one.twin !== null) yield one.twin;
    }
  }

  /** A new world. Shapes are boxes until their meshes arrive. */
  load(world: World): void {
    const had = this.looks.map(({ form }) => JSON.stringify(form));
    // After a reconnect they are there already; and a scene may get more.
    const goesOn =
      this.missing === 0 &&
      had.every((form, index) => form === JSON.stringify(world.forms[index]));
    if (!goesOn) this.clear();
    const turn = this.loading;
    world.forms.forEach((form, index) => {
      if (index < this.looks.length) return;
      this.looks.push(this.asBox(form));
      if (form.content === null) return;
      void fetchMesh(form.content).then((mesh) => {
        if (turn !== this.loading) return;
        if (mesh === null) this.missing++;
        else this.looks[index] = this.asMesh(form, mesh);
        this.version++;
      });
    });
  }

  private clear(): void {
    for (const part of this.parts) part.dispose();
    this.parts.length = 0;
    this.looks = [];
    this.impostors.clear();
    this.missing = 0;
    this.loading++;
  }

  private asBox(form: Form): Look {
    const [x, y, z] = form.half;
    return {
      form,
      mesh: boxMesh(form.half),
      near: this.box,
      layer: LAYER_BOX,
      radius: Math.hypot(x, y, z),
      half: form.half,
      scale: form.half,
      box: [[-x, -y, -z], [x, y, z]],
    };
  }

  private asMesh(form: Form, mesh: MeshData): Look {
    const near = this.add(mesh);
    let square = 0;
    const low: Vec3 = [Infinity, Infinity, Infinity];
    const high: Vec3 = [-Infinity, -Infinity, -Infinity];
    for (let at = 0; at < mesh.positions.length; at += 3) {
      let here = 0;
      for (let axis = 0; axis < 3; axis++) {
        const along = mesh.positions[at + axis]!;
        here += along * along;
        low[axis] = Math.min(low[axis]!, along);
        high[axis] = Math.max(high[axis]!, along);
      }
      square = Math.max(square, here);
    }
    const half = low.map((part, axis) => Math.max(-part, high[axis]!)) as Vec3;
    const radius = Math.sqrt(square);
    // Impostors are centred on the origin: a mesh far from it would be a dot.
    const centred = half.every((part, axis) => part < (high[axis]! - low[axis]!) * 0.75 + 1e-9);
    const layer = centred ? this.impostors.addMesh(mesh, radius) : LAYER_NONE;
    const box: [Vec3, Vec3] = mesh.positions.length > 0 ? [low, high] : [[0, 0, 0], [0, 0, 0]];
    return { form, mesh, near, layer, radius, half, box, scale: [1, 1, 1] };
  }

  private add(mesh: Pick<MeshData, "positions" | "triangles">): Instances {
    const side = isClosedOutward(mesh) ? FrontSide : DoubleSide;
    const instances = new Instances(creased(mesh), this.air, this.scene, side);
    this.parts.push(instances);
    return instances;
  }
}

/** The mesh with this digest, from the cache or the server; null if unavailable. */
async function fetchMesh(content: string): Promise<MeshData | null> {
  const address = new URL(`mesh/${encodeURIComponent(content)}`, document.baseURI).href;
  try {
    // The cache exists on https and localhost only; elsewhere the browser's own is used.
    const cache = "caches" in window ? await caches.open(CACHE).catch(() => null) : null;
    const kept = await cache?.match(address);
    if (kept) {
      const mesh = decodeMesh(await kept.arrayBuffer());
      if (mesh !== null) return mesh;
    }
    const answer = await fetch(address);
    if (!answer.ok) return null;
    const copy = answer.clone();
    const mesh = decodeMesh(await answer.arrayBuffer());
    if (mesh !== null) await cache?.put(address, copy).catch(() => undefined);
    return mesh;
  } catch {
    return null;
  }
}
