// Many bodies of one geometry in few draw calls. The geometry is copied a few hundred times into one
// buffer; each copy reads its 16 numbers from a small texture: the three rows of its placement, then
// colour and marks. Instanced drawing would be shorter code, but software rendering (SwiftShader) makes
// a draw call of every instance: 5000 bodies took 225 ms that way. Light is computed per vertex,
// because pixels are expensive, too.
import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  FloatType,
  FrontSide,
  GLSL3,
  Mesh,
  RawShaderMaterial,
  RGBAFormat,
  Vector3,
  type IUniform,
  type Object3D,
  type Side,
} from "three";

export const INSTANCE_VALUES = 16;
/** Marks, added up. */
export const MARK_SHARED = 1;
export const MARK_SELECTED = 2;

/** Copies in one draw call: a row of the texture has four numbers of four for each. */
const COPIES_MAX = 256;
/** Vertices in one draw call, about: large meshes are copied less often. */
const VERTICES_ABOUT = 40_000;

const VERTEX = `
precision highp float;
precision highp sampler2D;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform sampler2D placements;
uniform vec3 sun;
uniform vec3 haze;
uniform float hazeDepth;
in vec4 position;
in vec3 normal;
out vec3 colour;
out float stripe;
void main() {
  int at = int(position.w) * 4;
  vec4 rowX = texelFetch(placements, ivec2(at, 0), 0);
  vec4 rowY = texelFetch(placements, ivec2(at + 1, 0), 0);
  vec4 rowZ = texelFetch(placements, ivec2(at + 2, 0), 0);
  vec4 look = texelFetch(placements, ivec2(at + 3, 0), 0);
  vec4 here = vec4(position.xyz, 1.0);
  vec3 place = vec3(dot(rowX, here), dot(rowY, here), dot(rowZ, here));
  vec3 up = normalize(vec3(dot(rowX.xyz, normal), dot(rowY.xyz, normal), dot(rowZ.xyz, normal)));
  vec4 seen = viewMatrix * vec4(place, 1.0);
  gl_Position = projectionMatrix * seen;
  float light = 0.62 + 0.38 * dot(up, sun) + 0.10 * up.y;
  float chosen = step(1.5, look.w);
  vec3 lit = look.rgb * light + 0.18 * chosen;
  colour = mix(lit, haze, clamp(-seen.z / hazeDepth - 0.15, 0.0, 0.45));
  // Stripes on bodies of several nodes; far below zero where there are none.
  vec3 turned = place - vec3(rowX.w, rowY.w, rowZ.w);
  stripe = mod(look.w, 2.0) > 0.5 ? (turned.y + turned.x) * 5.0 : -1.0e4;
}
`;

const FRAGMENT = `
precision highp float;
in vec3 colour;
in float stripe;
out vec4 pixel;
void main() {
  float on = stripe > -5.0e3 ? step(0.62, fract(stripe)) : 0.0;
  pixel = vec4(mix(colour, vec3(1.0), on * 0.6), OPACITY);
}
`;

/** Opacity of the background while two parts are shown. */
const GHOST_OPACITY = 0.1;
const GHOST_ORDER = 2;

/** Light and haze, shared by all bodies. */
export interface Air {
  [name: string]: IUniform;
  sun: IUniform<Vector3>;
  haze: IUniform<Vector3>;
  hazeDepth: IUniform<number>;
}

export function clearAir(): Air {
  return {
    sun: { value: new Vector3(0.45, 0.78, 0.43) },
    haze: { value: new Vector3(1, 1, 1) },
    hazeDepth: { value: 1000 },
  };
}

/** Which sides are drawn, and whether faintly. */
interface ChunkLook {
  side: Side;
  ghost: boolean;
}

/** One draw call of copies. */
class Chunk {
  readonly values: Float32Array;
  private readonly texture: DataTexture;
  private readonly geometry = new BufferGeometry();
  private readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;

  constructor(copied: BufferGeometry, copies: number, air: Air, parent: Object3D, look: ChunkLook) {
    const { side, ghost } = look;
    this.values = new Float32Array(copies * INSTANCE_VALUES);
    this.texture = new DataTexture(this.values, copies * 4, 1, RGBAFormat, FloatType);
    this.geometry.index = copied.index;
    this.geometry.setAttribute("position", copied.getAttribute("position"));
    this.geometry.setAttribute("normal", copied.getAttribute("normal"));
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      defines: { OPACITY: ghost ? GHOST_OPACITY.toFixed(3) : "1.0" },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { ...air, placements: { value: this.texture } },
      side,
      transparent: ghost,
      depthWrite: !ghost,
    });
    this.mesh = new Mesh(this.geometry, material);
    if (ghost) this.mesh.renderOrder = GHOST_ORDER;
    this.mesh.frustumCulled = false;
    this.mesh.matrixAutoUpdate = false;
    parent.add(this.mesh);
  }

  show(copies: number, corners: number): void {
    this.mesh.visible = copies > 0;
    if (copies === 0) return;
    this.geometry.setDrawRange(0, copies * corners);
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.material.dispose();
    this.geometry.dispose();
    this.texture.dispose();
  }
}

/**
 * A geometry, once and many times. Most parts of an assembly occur once: many copies of each would
 * fill the memory, so they are made for a second body with the same geometry.
 */
class Copies {
  readonly single: BufferGeometry;
  readonly corners: number;
  /** Copies in the geometry of many. */
  readonly count: number;
  private made: BufferGeometry | null = null;

  constructor(private readonly shape: BufferGeometry) {
    const vertices = shape.getAttribute("position").count;
    this.corners = shape.index?.count ?? 0;
    this.count = Math.max(1, Math.min(COPIES_MAX, Math.floor(VERTICES_ABOUT / (vertices || 1))));
    this.single = copyMany(shape, 1);
  }

  get many(): BufferGeometry {
    return (this.made ??= copyMany(this.shape, this.count));
  }

  dispose(): void {
    this.single.dispose();
    this.made?.dispose();
  }
}

/** Bodies of one geometry. Filled anew for every picture: `begin`, `add`…, `end`. */
export class Instances {
  /** The values of the last body, from `at`. */
  values: Float32Array = new Float32Array(0);
  at = 0;
  private count = 0;
  /** The first has one body, all others as many as there are copies. */
  private readonly chunks: Chunk[] = [];
  private readonly copies: Copies;
  private readonly isGhost: boolean;
  /** The same bodies drawn faintly; made on demand. */
  twin: Instances | null = null;

  constructor(
    shape: BufferGeometry | Instances,
    private readonly air: Air,
    private readonly parent: Object3D,
    /** Open meshes are drawn from both sides, which costs. */
    private readonly side: Side = FrontSide,
  ) {
    this.isGhost = shape instanceof Instances;
    this.copies = shape instanceof Instances ? shape.copies : new Copies(shape);
  }

  get ghost(): Instances {
    return (this.twin ??= new Instances(this, this.air, this.parent, this.side));
  }

  begin(): void {
    this.count = 0;
  }

  add(): void {
    const place = this.count === 0 ? 0 : (this.count - 1) % this.copies.count;
    const index = this.count === 0 ? 0 : 1 + (this.count - 1 - place) / this.copies.count;
    if (index === this.chunks.length) this.chunks.push(this.chunk(index === 0));
    this.values = this.chunks[index]!.values;
    this.at = place * INSTANCE_VALUES;
    this.count++;
  }

  end(): void {
    const { count: copies, corners } = this.copies;
    this.chunks.forEach((chunk, index) => {
      const left = index === 0 ? Math.min(this.count, 1) : this.count - 1 - (index - 1) * copies;
      chunk.show(Math.max(0, Math.min(left, copies)), corners);
    });
  }

  dispose(): void {
    for (const chunk of this.chunks) chunk.dispose();
    this.twin?.dispose();
    this.copies.dispose();
  }

  private chunk(single: boolean): Chunk {
    const geometry = single ? this.copies.single : this.copies.many;
    const look = { side: this.side, ghost: this.isGhost };
    return new Chunk(geometry, single ? 1 : this.copies.count, this.air, this.parent, look);
  }
}

/** The geometry so many times, with the number of the copy as a fourth number of each vertex. */
function copyMany(shape: BufferGeometry, copies: number): BufferGeometry {
  const [points, normals] = [shape.getAttribute("position"), shape.getAttribute("normal")];
  const corners = shape.index?.array ?? [];
  const vertices = points.count;
  const places = new Float32Array(vertices * copies * 4);
  const directions = new Float32Array(vertices * copies * 3);
  const index = new Uint32Array(corners.length * copies);
  for (let copy = 0; copy < copies; copy++) {
    for (let vertex = 0; vertex < vertices; vertex++) {
      const to = copy * vertices + vertex;
      places.set([points.getX(vertex), points.getY(vertex), points.getZ(vertex), copy], to * 4);
    }
    directions.set(normals.array, copy * vertices * 3);
    for (let corner = 0; corner < corners.length; corner++) {
      index[copy * corners.length + corner] = corners[corner]! + copy * vertices;
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 4));
  geometry.setAttribute("normal", new BufferAttribute(directions, 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}
