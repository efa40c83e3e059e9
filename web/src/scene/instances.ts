// Many bodies of one geometry in one draw call. Each instance is 16 numbers: the three rows of its
// placement, then colour and marks. Light is computed per corner: in software rendering, where the
// picture must be fast too, pixels are what costs.
import {
  BufferGeometry,
  DynamicDrawUsage,
  GLSL3,
  InstancedBufferGeometry,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  RawShaderMaterial,
  Vector3,
} from "three";

export const INSTANCE_VALUES = 16;
/** Marks, added up. */
export const MARK_SHARED = 1;
export const MARK_SELECTED = 2;

const VERTEX = `
precision highp float;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform vec3 sun;
uniform vec3 haze;
uniform float hazeDepth;
in vec3 position;
in vec3 normal;
in vec4 rowX;
in vec4 rowY;
in vec4 rowZ;
in vec4 look;
out vec3 colour;
out float stripe;
void main() {
  vec4 here = vec4(position, 1.0);
  vec3 place = vec3(dot(rowX, here), dot(rowY, here), dot(rowZ, here));
  vec3 up = normalize(vec3(dot(rowX.xyz, normal), dot(rowY.xyz, normal), dot(rowZ.xyz, normal)));
  vec4 seen = viewMatrix * vec4(place, 1.0);
  gl_Position = projectionMatrix * seen;
  float light = 0.62 + 0.38 * dot(up, sun) + 0.10 * up.y;
  float chosen = step(1.5, look.w);
  vec3 lit = look.rgb * light + 0.18 * chosen;
  colour = mix(lit, haze, clamp(-seen.z / hazeDepth - 0.15, 0.0, 0.45));
  // Stripes across what several nodes have; far below zero where there are none.
  float shared = mod(look.w, 2.0);
  vec3 turned = place - vec3(rowX.w, rowY.w, rowZ.w);
  stripe = shared > 0.5 ? (turned.y + turned.x) * 5.0 : -1.0e4;
}
`;

const FRAGMENT = `
precision highp float;
in vec3 colour;
in float stripe;
out vec4 pixel;
void main() {
  float on = stripe > -5.0e3 ? step(0.62, fract(stripe)) : 0.0;
  pixel = vec4(mix(colour, vec3(1.0), on * 0.6), 1.0);
}
`;

/** The one material of all bodies. */
export function bodyMaterial(): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: {
      sun: { value: new Vector3(0.45, 0.78, 0.43) },
      haze: { value: new Vector3(1, 1, 1) },
      hazeDepth: { value: 1000 },
    },
  });
}

/** Instances of one geometry. Filled anew for every picture: `begin`, `add`…, `end`. */
export class Instances {
  readonly mesh: Mesh;
  values = new Float32Array(0);
  count = 0;
  private room = 0;
  private buffer: InstancedInterleavedBuffer | null = null;
  private readonly geometry = new InstancedBufferGeometry();

  constructor(shape: BufferGeometry, material: RawShaderMaterial) {
    this.geometry.index = shape.index;
    this.geometry.setAttribute("position", shape.getAttribute("position"));
    this.geometry.setAttribute("normal", shape.getAttribute("normal"));
    this.geometry.instanceCount = 0;
    this.mesh = new Mesh(this.geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.matrixAutoUpdate = false;
    this.mesh.visible = false;
  }

  begin(): void {
    this.count = 0;
  }

  /** Where the next instance's numbers go in `values`. */
  add(): number {
    if (this.count === this.room) this.grow();
    return this.count++ * INSTANCE_VALUES;
  }

  end(): void {
    this.mesh.visible = this.count > 0;
    this.geometry.instanceCount = this.count;
    if (this.buffer === null || this.count === 0) return;
    this.buffer.addUpdateRange(0, this.count * INSTANCE_VALUES);
    this.buffer.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
    this.mesh.removeFromParent();
  }

  private grow(): void {
    this.room = Math.max(64, this.room * 2);
    const grown = new Float32Array(this.room * INSTANCE_VALUES);
    grown.set(this.values);
    this.values = grown;
    // A buffer on the graphics card cannot grow: three.js makes a new one for a new geometry only.
    this.geometry.dispose();
    this.buffer = new InstancedInterleavedBuffer(grown, INSTANCE_VALUES);
    this.buffer.setUsage(DynamicDrawUsage);
    const rows = ["rowX", "rowY", "rowZ", "look"];
    rows.forEach((name, row) => {
      const attribute = new InterleavedBufferAttribute(this.buffer!, 4, row * 4);
      this.geometry.setAttribute(name, attribute);
    });
  }
}
