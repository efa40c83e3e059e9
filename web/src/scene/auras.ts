// Interest radius of avatars: a circle around each, all in one draw call.
import {
  BufferAttribute,
  DynamicDrawUsage,
  GLSL3,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  LineSegments,
  RawShaderMaterial,
  Color,
  type Scene,
} from "three";
import { Class } from "../protocol/frame";
import { POSE_VALUES, type Store } from "../world/store";

const CIRCLE_PARTS = 64;
const AURAS_MAX = 1024;

const VERTEX = `
precision highp float;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float reach;
in vec3 position;
in vec3 centre;
void main() {
  gl_Position = projectionMatrix * viewMatrix * vec4(centre + position * reach, 1.0);
}
`;

const FRAGMENT = `
precision highp float;
uniform vec3 colour;
out vec4 pixel;
void main() { pixel = vec4(colour, 0.5); }
`;

export class Auras {
  private readonly centres = new InstancedBufferAttribute(new Float32Array(AURAS_MAX * 3), 3);
  private readonly geometry = new InstancedBufferGeometry();
  private readonly material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    transparent: true,
    depthWrite: false,
    uniforms: { reach: { value: 0 }, colour: { value: new Color() } },
  });
  private readonly lines: LineSegments;

  constructor(scene: Scene) {
    const points: number[] = [];
    for (let part = 0; part < CIRCLE_PARTS; part++) {
      for (const end of [part, part + 1]) {
        const angle = (end / CIRCLE_PARTS) * 2 * Math.PI;
        points.push(Math.cos(angle), 0, Math.sin(angle));
      }
    }
    this.geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    this.centres.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("centre", this.centres);
    this.lines = new LineSegments(this.geometry, this.material);
    this.lines.frustumCulled = false;
    this.lines.visible = false;
    scene.add(this.lines);
  }

  paint(colour: string): void {
    (this.material.uniforms.colour!.value as Color).setStyle(colour, "");
  }

  draw(store: Store, reach: number, wanted: boolean): void {
    this.lines.visible = false;
    if (!wanted || !(reach > 0)) return;
    let count = 0;
    for (let slot = 0; slot < store.end && count < AURAS_MAX; slot++) {
      if (store.ids[slot] === undefined || store.classes[slot] !== Class.Avatar) continue;
      const at = slot * POSE_VALUES;
      this.centres.setXYZ(count++, store.poses[at]!, store.poses[at + 1]!, store.poses[at + 2]!);
    }
    this.centres.needsUpdate = true;
    this.geometry.instanceCount = count;
    this.material.uniforms.reach!.value = reach;
    this.lines.visible = count > 0;
  }
}
