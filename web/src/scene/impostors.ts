// Impostors: bodies that are only a few pixels large, of every shape, in one draw call with one vertex
// each. A box is computed exactly in each pixel; a mesh shows the picture that was made of it from
// the nearest of many sides. Triangles would cost about a microsecond each in software rendering.
import {
  BufferGeometry,
  DataArrayTexture,
  DynamicDrawUsage,
  GLSL3,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  LinearFilter,
  Points,
  RawShaderMaterial,
  Vector3,
  type Object3D,
  type PerspectiveCamera,
} from "three";
import type { MeshData } from "../protocol/mesh";
import { INSTANCE_VALUES, type Air } from "./instances";
import { drawTiles, LAYER_PIXELS, TILE_PIXELS, TILES } from "./tiles";

/** A body smaller than this on the screen, in pixels from its middle, is an impostor: there the pictures
 * are as fine as the screen. */
export const FAR_PIXELS = 12;
/** The same where drawing is slow: coarser, but far fewer triangles. */
export const FAR_PIXELS_SLOW = 22;
export const LAYER_BOX = -1;
export const LAYER_NONE = -2;
/** Shapes with pictures; others are always drawn in full. */
const LAYERS_MAX = 48;
/** Meshes with more triangles take too long to make pictures of. */
const TRIANGLES_MAX = 6_000;

const VERTEX = `
precision highp float;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform vec3 sun;
uniform vec3 haze;
uniform vec3 eye;
uniform vec3 eyeRight;
uniform float hazeDepth;
uniform float pixels;
in vec4 place;
in vec4 turn;
in vec4 shape;
in vec4 look;
flat out vec3 colour;
flat out vec3 across;
flat out vec3 upward;
flat out vec3 size;
flat out vec3 light;
// Density of the haze, the layer, and whether there are stripes.
flat out vec3 rest;

// Into the body's own axes.
vec3 back(vec3 v) {
  vec3 t = 2.0 * cross(v, turn.xyz);
  return v + turn.w * t + cross(t, turn.xyz);
}

void main() {
  vec4 seen = viewMatrix * vec4(place.xyz, 1.0);
  gl_Position = projectionMatrix * seen;
  vec3 d = normalize(place.xyz - eye);
  vec3 r = normalize(eyeRight - d * dot(eyeRight, d));
  vec3 u = cross(r, d);
  vec3 dBody = back(d);
  vec3 rBody = back(r);
  vec3 uBody = back(u);
  vec3 sunBody = 0.38 * back(sun) + 0.10 * back(vec3(0.0, 1.0, 0.0));
  float layer = shape.w;
  // As small as possible: every pixel costs.
  float wide = min(place.w, max(dot(abs(rBody), shape.xyz), dot(abs(uBody), shape.xyz)));
  gl_PointSize = 2.0 * wide * pixels / max(-seen.z, 0.01) + 1.0;
  vec3 lit = look.rgb + 0.2 * step(1.5, look.w);
  float faded = clamp(-seen.z / hazeDepth - 0.15, 0.0, 0.45);
  colour = lit * (1.0 - faded);
  rest = vec3(faded, layer, mod(look.w, 2.0) > 0.5 ? 1.0 : 0.0);
  if (layer < 0.0) {
    vec3 safe = mix(dBody, vec3(1.0e-4), lessThan(abs(dBody), vec3(1.0e-4)));
    vec3 inward = 1.0 / safe;
    across = rBody * wide * inward;
    upward = uBody * wide * inward;
    size = abs(inward) * shape.xyz;
    light = 0.62 - sign(safe) * sunBody;
  } else {
    vec3 v = -dBody;
    v /= abs(v.x) + abs(v.y) + abs(v.z);
    vec2 side = vec2(v.x < 0.0 ? -1.0 : 1.0, v.y < 0.0 ? -1.0 : 1.0);
    vec2 folded = v.z < 0.0 ? (1.0 - abs(v.yx)) * side : v.xy;
    vec2 tile = min(floor((folded * 0.5 + 0.5) * TILES), vec2(TILES - 1.0));
    vec2 middle = (tile + 0.5) / TILES * 2.0 - 1.0;
    float z = 1.0 - abs(middle.x) - abs(middle.y);
    vec2 ways = vec2(middle.x < 0.0 ? -1.0 : 1.0, middle.y < 0.0 ? -1.0 : 1.0);
    vec3 towards = normalize(vec3(middle - ways * max(-z, 0.0), z));
    vec3 pole = abs(towards.y) < 0.99 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    vec3 tileRight = normalize(cross(pole, towards));
    vec3 tileUp = cross(towards, tileRight);
    float part = TILE_PIXELS * 0.5 * wide / place.w;
    across = vec3(dot(rBody, tileRight), dot(rBody, tileUp), 0.0) * part;
    upward = vec3(dot(uBody, tileRight), dot(uBody, tileUp), 0.0) * part;
    size = vec3((tile + 0.5) * TILE_PIXELS, 0.0);
    light = sunBody;
  }
}
`;

const FRAGMENT = `
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray pictures;
uniform vec3 haze;
flat in vec3 colour;
flat in vec3 across;
flat in vec3 upward;
flat in vec3 size;
flat in vec3 light;
flat in vec3 rest;
out vec4 pixel;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  vec3 n = across * at.x - upward * at.y;
  float bright;
  if (rest.y < 0.0) {
    vec3 enter = -n - size;
    vec3 leave = size - n;
    float first = max(max(enter.x, enter.y), enter.z);
    if (first > min(min(leave.x, leave.y), leave.z)) discard;
    bright = first == enter.x ? light.x : first == enter.y ? light.y : light.z;
  } else {
    // Beyond the edge of this picture there is the next.
    if (max(abs(n.x), abs(n.y)) > TILE_PIXELS * 0.5 - 0.5) discard;
    vec4 seen = texture(pictures, vec3((size.xy + n.xy) / (TILES * TILE_PIXELS), rest.y));
    if (seen.a < 0.5) discard;
    bright = 0.62 + dot(seen.xyz * 2.0 - 1.0, light);
  }
  float on = rest.z * step(0.5, fract((at.x - at.y) * 1.3));
  pixel = vec4(mix(colour * bright + haze * rest.x, vec3(1.0), on * 0.6), 1.0);
}
`;

export class Impostors {
  values: Float32Array = new Float32Array(0);
  at = 0;
  private count = 0;
  private buffer: InterleavedBuffer | null = null;
  private geometry = new BufferGeometry();
  private readonly material: RawShaderMaterial;
  private readonly points: Points<BufferGeometry, RawShaderMaterial>;
  private pictures = new Uint8Array(0);
  private layers = 0;
  private stale = false;

  constructor(air: Air, parent: Object3D) {
    const sizes = { TILES: TILES.toFixed(1), TILE_PIXELS: TILE_PIXELS.toFixed(1) };
    this.material = new RawShaderMaterial({
      glslVersion: GLSL3,
      defines: sizes,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        ...air,
        pixels: { value: 1 },
        eye: { value: new Vector3() },
        eyeRight: { value: new Vector3() },
        pictures: { value: texture(new Uint8Array(LAYER_PIXELS ** 2 * 4), 1) },
      },
    });
    this.points = new Points(this.geometry, this.material);
    this.points.frustumCulled = false;
    this.points.matrixAutoUpdate = false;
    parent.add(this.points);
  }

  /** Removes all meshes. */
  clear(): void {
    this.layers = 0;
  }

  /** Makes pictures of a mesh; returns their layer. */
  addMesh(mesh: MeshData, radius: number): number {
    if (this.layers === LAYERS_MAX || mesh.faces.length > TRIANGLES_MAX) return LAYER_NONE;
    const bytes = LAYER_PIXELS ** 2 * 4;
    const layer = this.layers++;
    const grown = new Uint8Array(this.layers * bytes);
    grown.set(this.pictures.subarray(0, layer * bytes));
    grown.set(drawTiles(mesh, radius), layer * bytes);
    this.pictures = grown;
    this.stale = true;
    return layer;
  }

  /** Sets the size in pixels of one metre at a distance of one metre. */
  pixelsPerUnit(height: number, fov: number): void {
    this.material.uniforms.pixels!.value = height / 2 / Math.tan((fov * Math.PI) / 360);
  }

  begin(camera: PerspectiveCamera): void {
    this.count = 0;
    (this.material.uniforms.eye!.value as Vector3).copy(camera.position);
    const right = this.material.uniforms.eyeRight!.value as Vector3;
    right.setFromMatrixColumn(camera.matrixWorld, 0);
    if (!this.stale) return;
    // Once for all meshes that were added since the last picture.
    this.stale = false;
    (this.material.uniforms.pictures!.value as DataArrayTexture).dispose();
    this.material.uniforms.pictures!.value = texture(this.pictures, this.layers);
  }

  add(): void {
    if ((this.count + 1) * INSTANCE_VALUES > this.values.length) this.grow();
    this.at = this.count++ * INSTANCE_VALUES;
  }

  end(): void {
    this.points.visible = this.count > 0;
    this.geometry.setDrawRange(0, this.count);
    if (this.buffer === null || this.count === 0) return;
    this.buffer.addUpdateRange(0, this.count * INSTANCE_VALUES);
    this.buffer.needsUpdate = true;
  }

  private grow(): void {
    const grown = new Float32Array(Math.max(512 * INSTANCE_VALUES, this.values.length * 2));
    grown.set(this.values);
    this.values = grown;
    // A buffer on the graphics card cannot grow, so there is a new geometry.
    this.geometry.dispose();
    this.geometry = new BufferGeometry();
    this.points.geometry = this.geometry;
    this.buffer = new InterleavedBuffer(grown, INSTANCE_VALUES);
    this.buffer.setUsage(DynamicDrawUsage);
    ["place", "turn", "shape", "look"].forEach((name, quarter) => {
      const attribute = new InterleavedBufferAttribute(this.buffer!, 4, quarter * 4);
      this.geometry.setAttribute(name, attribute);
    });
  }
}

function texture(bytes: Uint8Array, layers: number): DataArrayTexture {
  const made = new DataArrayTexture(bytes as Uint8Array<ArrayBuffer>, LAYER_PIXELS, LAYER_PIXELS, layers);
  made.magFilter = LinearFilter;
  made.minFilter = LinearFilter;
  made.needsUpdate = true;
  return made;
}
