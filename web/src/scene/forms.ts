// What bodies look like: for each form of the world its triangles, its instances, its pictures
// from afar, and its size. Meshes are fetched by content, which never changes, so they are kept for ever.
import type { Scene } from "three";
import { boxMesh, decodeMesh, type MeshData } from "../protocol/mesh";
import type { Form, World } from "../protocol/words";
import { creased } from "./geometry";
import { LAYER_BOX, LAYER_NONE, Specks } from "./specks";
import { Instances, type Air } from "./instances";

const CACHE = "jostle-meshes-1";
/** An immovable form larger than this part of the world surrounds it: only edges are drawn. */
const SURROUNDING_PART = 0.25;

export interface Look {
  form: Form;
  mesh: MeshData;
  near: Instances;
  /** Which pictures a far one is drawn with; none if it is always drawn in full. */
  layer: number;
  /** Of a sphere around the middle that it fits into. */
  radius: number;
  /** And half the edges of a box. */
  half: readonly [number, number, number];
  /** By how much the geometry is stretched: boxes share one. */
  scale: readonly [number, number, number];
  /** So large that, if it never moves, it must not hide what is inside. */
  surrounds: boolean;
}

export class Forms {
  looks: Look[] = [];
  /** Meshes that could not be had: boxes are drawn instead. */
  missing = 0;
  /** Bodies that are far away, of every form. */
  readonly specks: Specks;
  private readonly box: Instances;
  private readonly parts: Instances[] = [];
  private loading = 0;
  /** The world's size when forms were loaded: what surrounds depends on it. */
  private extent = "";

  constructor(
    private readonly scene: Scene,
    private readonly air: Air,
  ) {
    this.box = new Instances(creased(boxMesh([1, 1, 1])), air, scene);
    this.specks = new Specks(air, scene);
  }

  /** Everything that is drawn, each once. */
  *instances(): Iterable<Instances> {
    yield this.box;
    yield* this.parts;
  }

  /** A new world. Forms are boxes until their meshes are there. */
  load(world: World): void {
    const extent = JSON.stringify(world.extent);
    const had = this.looks.map(({ form }) => JSON.stringify(form));
    // Who comes back after the line broke has them already; and a scene may get more.
    const goesOn =
      extent === this.extent &&
      this.missing === 0 &&
      had.every((form, index) => form === JSON.stringify(world.forms[index]));
    this.extent = extent;
    if (!goesOn) this.clear();
    const size = world.extent[1].map((high, axis) => high - world.extent[0][axis]!);
    const limit = Math.max(...size) * SURROUNDING_PART;
    const turn = this.loading;
    world.forms.forEach((form, index) => {
      if (index < this.looks.length) return;
      this.looks.push(this.asBox(form, limit));
      if (form.content === null) return;
      void fetchMesh(form.content).then((mesh) => {
        if (turn !== this.loading) return;
        if (mesh === null) this.missing++;
        else this.looks[index] = this.asMesh(form, mesh, this.looks[index]!.surrounds);
      });
    });
  }

  private clear(): void {
    for (const part of this.parts) part.dispose();
    this.parts.length = 0;
    this.looks = [];
    this.specks.clear();
    this.missing = 0;
    this.loading++;
  }

  /** The forms that only edges are drawn of, if they never move. */
  surrounding(): number[] {
    return this.looks.flatMap((look, index) => (look.surrounds ? [index] : []));
  }

  private asBox(form: Form, limit: number): Look {
    const [x, y, z] = form.half;
    return {
      form,
      mesh: boxMesh(form.half),
      near: this.box,
      layer: LAYER_BOX,
      radius: Math.hypot(x, y, z),
      half: form.half,
      scale: form.half,
      surrounds: 2 * Math.max(x, y, z) > limit,
    };
  }

  private asMesh(form: Form, mesh: MeshData, surrounds: boolean): Look {
    const near = this.add(mesh);
    let square = 0;
    const half: [number, number, number] = [0, 0, 0];
    for (let at = 0; at < mesh.positions.length; at += 3) {
      const [x, y, z] = mesh.positions.subarray(at, at + 3) as unknown as [number, number, number];
      square = Math.max(square, x * x + y * y + z * z);
      half[0] = Math.max(half[0], Math.abs(x));
      half[1] = Math.max(half[1], Math.abs(y));
      half[2] = Math.max(half[2], Math.abs(z));
    }
    const radius = Math.sqrt(square);
    const layer = surrounds ? LAYER_NONE : this.specks.addMesh(mesh, radius);
    return { form, mesh, near, layer, radius, half, scale: [1, 1, 1], surrounds };
  }

  private add(mesh: Pick<MeshData, "positions" | "triangles">): Instances {
    const instances = new Instances(creased(mesh), this.air, this.scene);
    this.parts.push(instances);
    return instances;
  }
}

/** The mesh of a content, from the cache or the server; null if it cannot be had. */
async function fetchMesh(content: string): Promise<MeshData | null> {
  const address = new URL(`mesh/${encodeURIComponent(content)}`, document.baseURI).href;
  try {
    // The cache is there on https and localhost only; elsewhere the browser's own must do.
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
