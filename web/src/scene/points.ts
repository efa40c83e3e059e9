// Points with constant size on the screen, drawn on top: contacts can be smaller than a pixel, and
// lie inside of parts.
import { CanvasTexture, PointsMaterial, SRGBColorSpace } from "three";

/** A disc with a rim, so many pixels wide. */
export function screenPoints(fill: string, rim: string, pixels: number): PointsMaterial {
  const size = 32;
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.fillStyle = rim;
    pen.beginPath();
    pen.arc(size / 2, size / 2, size / 2 - 1, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = fill;
    pen.beginPath();
    pen.arc(size / 2, size / 2, size / 2 - 7, 0, 2 * Math.PI);
    pen.fill();
  }
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  return new PointsMaterial({
    map,
    size: pixels,
    sizeAttenuation: false,
    transparent: true,
    depthTest: false,
    alphaTest: 0.3,
  });
}
