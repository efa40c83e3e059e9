// A label at a place of the world, with constant size on the screen.
import { CanvasTexture, Sprite, SpriteMaterial, SRGBColorSpace, type Object3D } from "three";
import { rgb } from "../colours";
import type { Vec3 } from "../protocol/messages";

const [WIDTH, HEIGHT] = [256, 64];
/** Relative to the height of the picture. */
const SIZE = 0.036;

export class Label {
  private readonly canvas = document.createElement("canvas");
  private readonly map = new CanvasTexture(this.canvas);
  private readonly sprite: Sprite;
  private shown = "";

  constructor(parent: Object3D) {
    this.canvas.width = WIDTH;
    this.canvas.height = HEIGHT;
    this.map.colorSpace = SRGBColorSpace;
    const material = new SpriteMaterial({ map: this.map, sizeAttenuation: false, depthTest: false });
    this.sprite = new Sprite(material);
    this.sprite.scale.set((SIZE * WIDTH) / HEIGHT, SIZE, 1);
    // Above its place.
    this.sprite.center.set(0.5, -0.35);
    this.sprite.renderOrder = 7;
    this.sprite.visible = false;
    parent.add(this.sprite);
  }

  set visible(visible: boolean) {
    this.sprite.visible = visible;
  }

  place(at: Vec3): void {
    this.sprite.position.set(...at);
  }

  write(words: string, colour: string): void {
    if (words + colour === this.shown) return;
    this.shown = words + colour;
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    pen.font = "600 30px system-ui, sans-serif";
    const wide = Math.min(WIDTH, pen.measureText(words).width + 34);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect((WIDTH - wide) / 2, 8, wide, 48, 24);
    pen.fill();
    // Dark text on yellow, white text on other colours.
    const [red, green, blue] = rgb(colour);
    const light = 0.3 * red + 0.59 * green + 0.11 * blue > 0.62;
    pen.fillStyle = light ? "#1b232c" : "#ffffff";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(words, WIDTH / 2, 34, WIDTH - 30);
    this.map.needsUpdate = true;
  }
}
