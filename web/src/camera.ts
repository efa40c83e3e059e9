// Camera: orbits a point, flies, or follows a body. Mouse, touch, wheel and keys; a click without a
// drag picks.
import { PerspectiveCamera, Vector3 } from "three";
import type { Vec3 } from "./protocol/messages";
import { isTyping } from "./walk/keys";

export type CameraMode = "orbit" | "fly" | "follow";

/** A pointer that moved less than this, in pixels, has clicked. */
const CLICK_PIXELS = 5;
const TURN_PER_PIXEL = 0.005;
const PITCH_MAX = 1.54;
/** Time constant of camera movements, in seconds. */
const SETTLE_SECONDS = 0.09;

export interface CameraUser {
  /** The position of the followed body; null without one. */
  followed(): Vec3 | null;
  /** Direction of the keys while not walking: right, up, back. */
  keys(): Vec3;
  picked(x: number, y: number): void;
}

export class Viewpoint {
  readonly camera = new PerspectiveCamera(50, 1, 0.1, 1000);
  mode: CameraMode = "orbit";
  yaw = 0.7;
  private pitch = 0.5;
  private distance = 50;
  private size = 50;
  /** The orbit centre (orbit, follow), or the eye (fly). */
  private readonly target = new Vector3();
  private readonly shownTarget = new Vector3();
  private shownDistance = 50;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private moved = 0;
  /** The user has not moved the view yet: it may still be fitted to the world. */
  private untouched = true;
  private calm = window.matchMedia("(prefers-reduced-motion: reduce)");

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly user: CameraUser,
  ) {
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Distance to the orbit centre. */
  get shownAway(): number {
    return this.shownDistance;
  }

  /** A new world: fits all of it. */
  frame(box: [Vec3, Vec3]): void {
    this.yaw = 0.62;
    this.pitch = 0.56;
    this.mode = "orbit";
    this.untouched = true;
    this.refit(box);
  }

  /** More of the world is known, or the window was resized: fits all of it again. */
  refit([low, high]: [Vec3, Vec3]): void {
    if (!this.untouched || this.mode !== "orbit") return;
    const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    this.size = size > 0 ? size : 10;
    this.target.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    this.distance = this.fit([low, high]);
    this.camera.near = Math.min(0.1, this.size / 2000);
    this.camera.far = this.size * 12;
    this.shownTarget.copy(this.target);
    this.shownDistance = this.distance;
    this.camera.updateProjectionMatrix();
  }

  /** Flies to a place, near enough for a sphere of this radius to fill the view. */
  flyTo(place: Vec3, radius: number): void {
    this.untouched = false;
    if (this.mode === "fly") this.shownDistance = 0;
    this.mode = "orbit";
    this.target.set(...place);
    const slope = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, this.camera.aspect);
    this.distance = Math.max((radius / slope) * 1.15, this.camera.near * 4, this.size * 1e-4);
  }

  setMode(mode: CameraMode): void {
    if (mode === this.mode) return;
    this.untouched = false;
    const eye = this.camera.position.clone();
    if (mode === "fly") this.target.copy(eye);
    if (this.mode === "fly" && mode === "orbit") {
      this.distance = this.size * 0.3;
      this.target.copy(eye).addScaledVector(this.forward(), this.distance);
    }
    if (mode === "follow") this.distance = Math.min(this.distance, this.size * 0.14);
    this.mode = mode;
    this.shownTarget.copy(this.target);
  }

  /** Turns the view, in radians. */
  look(yaw: number, pitch: number): void {
    this.untouched = false;
    this.yaw += yaw;
    this.pitch = Math.min(PITCH_MAX, Math.max(-PITCH_MAX, this.pitch + pitch));
  }

  /**
   * Converts a direction of the camera (right, up, back) to one of the world, level with the
   * ground.
   */
  level([right, up, back]: Vec3): Vec3 {
    const [sine, cosine] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    return [right * cosine + back * sine, up, back * cosine - right * sine];
  }

  update(seconds: number): void {
    if (this.mode === "fly") {
      const way = this.level(this.user.keys());
      this.target.addScaledVector(new Vector3(...way), seconds * this.size * 0.15);
    }
    const followed = this.mode === "follow" ? this.user.followed() : null;
    if (followed) this.target.set(...followed);
    const part = this.calm.matches ? 1 : 1 - Math.exp(-seconds / SETTLE_SECONDS);
    this.shownTarget.lerp(this.target, part);
    this.shownDistance += (this.distance - this.shownDistance) * part;
    const back = this.mode === "fly" ? 0 : this.shownDistance;
    this.camera.position.copy(this.shownTarget).addScaledVector(this.forward(), -back);
    this.camera.rotation.set(-this.pitch, this.yaw, 0, "YXZ");
    this.camera.updateMatrixWorld();
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  /** The distance at which all corners of a box are visible. */
  private fit(box: [Vec3, Vec3]): number {
    const slopeY = Math.tan((this.camera.fov * Math.PI) / 360);
    const slopeX = slopeY * this.camera.aspect;
    const forward = this.forward();
    const right = new Vector3(Math.cos(this.yaw), 0, -Math.sin(this.yaw));
    const up = new Vector3().crossVectors(right, forward);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const place = new Vector3(
        box[corner & 1]![0],
        box[(corner >> 1) & 1]![1],
        box[(corner >> 2) & 1]![2],
      ).sub(this.target);
      const wide = Math.max(
        Math.abs(place.dot(right)) / slopeX,
        Math.abs(place.dot(up)) / slopeY,
      );
      distance = Math.max(distance, wide - place.dot(forward));
    }
    return distance * 1.06;
  }

  private forward(): Vector3 {
    const flat = Math.cos(this.pitch);
    return new Vector3(
      -Math.sin(this.yaw) * flat,
      -Math.sin(this.pitch),
      -Math.cos(this.yaw) * flat,
    );
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved = this.pointers.size > 1 ? Infinity : 0;
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    const spreadBefore = this.spread();
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved += Math.hypot(dx, dy);
    if (this.moved < CLICK_PIXELS) return;
    const pans = event.shiftKey || (event.buttons & 6) !== 0;
    if (this.pointers.size === 2) this.zoom(spreadBefore / Math.max(this.spread(), 1));
    else if (pans && this.mode === "orbit") this.pan(dx, dy);
    else this.look(-dx * TURN_PER_PIXEL, dy * TURN_PER_PIXEL);
  }

  private up(event: PointerEvent): void {
    const known = this.pointers.delete(event.pointerId);
    if (known && this.moved < CLICK_PIXELS && event.button === 0) {
      this.user.picked(event.clientX, event.clientY);
    }
  }

  /** The distance of two fingers. */
  private spread(): number {
    const [one, two] = [...this.pointers.values()];
    return one && two ? Math.hypot(one.x - two.x, one.y - two.y) : 0;
  }

  private pan(dx: number, dy: number): void {
    this.untouched = false;
    const scale = this.distance / this.canvas.clientHeight;
    const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
    const up = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
    this.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.0015));
  }

  private zoom(factor: number): void {
    this.untouched = false;
    if (this.mode === "fly") {
      this.target.addScaledVector(this.forward(), (1 - factor) * this.size * 0.2);
      return;
    }
    this.distance = Math.min(this.size * 4, Math.max(this.size * 0.001, this.distance * factor));
  }

  /**
   * Keys while the picture has the focus; movement keys are handled before while walking or flying.
   */
  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || isTyping(event.target)) return;
    const turns: Record<string, [number, number]> = {
      ArrowLeft: [0.08, 0],
      ArrowRight: [-0.08, 0],
      ArrowUp: [0, 0.06],
      ArrowDown: [0, -0.06],
    };
    const turn = turns[event.key];
    if (turn) this.look(...turn);
    else if (event.key === "+" || event.key === "=") this.zoom(0.9);
    else if (event.key === "-") this.zoom(1.1);
    else return;
    event.preventDefault();
  }
}
