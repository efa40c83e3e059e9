// A scene that runs, and its KeySensors: keys of the keyboard, buttons on the page, a gamepad. Against
// JOSTLE_SCENE_URL (`jostle run scenes/steer.wrl --view`), or against the mock, which has the same keys.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browser, mock, open, ready, shoot } from "./harness.mjs";

const elsewhere = process.env.JOSTLE_SCENE_URL;
let server;
let address;
let chrome;

before(async () => {
  if (!elsewhere && !process.env.JOSTLE_URL) server = await mock("--bodies", "60", "--keys");
  address = elsewhere ?? server?.address;
  chrome = await browser();
});

after(async () => {
  await chrome?.stop();
  server?.stop();
});

/** The motion of the cart; its id is found by its name. */
const cart = (page) =>
  page.evaluate(() => {
    const id = window.jostle.named("CART");
    return { id, position: window.jostle.position(id), velocity: window.jostle.velocity(id) };
  });

/** Waits until its speed along x is between two bounds. */
async function moves(page, low, high) {
  const fits = ([least, most]) => {
    const id = window.jostle.named("CART");
    const speed = id && window.jostle.velocity(id)?.[0];
    return typeof speed === "number" && speed >= least && speed <= most;
  };
  await page.waitForFunction(fits, [low, high]).catch(async (error) => {
    throw new Error(`not ${low} to ${high}: ${JSON.stringify(await cart(page))} ${error.message}`);
  });
}

describe("a scene that runs", { skip: !elsewhere && !!process.env.JOSTLE_URL }, () => {
  test("is steered by the keys that its sensors listen to", async () => {
    const context = chrome.context;
    await context.addInitScript(() => {
      const buttons = Array.from({ length: 17 }, () => ({ value: 0 }));
      window.testPad = { connected: true, axes: [0, 0, 0, 0], buttons };
      navigator.getGamepads = () => [window.testPad];
    });
    const { page, complaints } = await open(context, address);
    await ready(page);
    assert.equal(await page.isVisible("#walk"), false, "a scene has no avatars");
    assert.equal(await page.isVisible("#scene-keys"), true);
    const { position: start } = await cart(page);
    await page.keyboard.press("ArrowRight");
    await moves(page, 1, 99);
    await page.waitForFunction((x) => window.jostle.position(window.jostle.named("CART"))[0] > x + 0.3, start[0]);
    await page.keyboard.press("Space");
    await moves(page, 0, 0);
    // A button on the page works like the key, for a mouse and for a finger.
    await page.locator("#scene-keys button", { hasText: /^←$/ }).click();
    await moves(page, -99, -1);
    await page.waitForTimeout(600);
    await shoot(page, "scene-keys");
    await page.keyboard.press("Space");
    await moves(page, 0, 0);
    // And a gamepad's stick.
    await page.evaluate(() => (window.testPad.axes = [1, 0, 0, 0]));
    await moves(page, 1, 99);
    await page.evaluate(() => (window.testPad.axes = [0, 0, 0, 0]));
    await page.keyboard.press("Space");
    await moves(page, 0, 0);
    // Modifier keys count: with Shift the key belongs to another sensor.
    await page.keyboard.press("ArrowRight");
    await moves(page, 1, 99);
    const { velocity } = await cart(page);
    await page.keyboard.press("Shift+ArrowRight");
    await moves(page, velocity[0] + 0.2, 99);
    await page.keyboard.press("Space");
    await moves(page, 0, 0);
    // The buttons can be reached and pressed by keyboard alone.
    await page.locator("#scene-keys button", { hasText: /^←$/ }).focus();
    await page.keyboard.press("Enter");
    await moves(page, -99, -1);
    assert.deepEqual(complaints, []);
    assert.equal(await page.evaluate(() => window.jostle.faults), 0);
    await page.close();
  });

  test("stops its cart at the wall", { skip: !elsewhere }, async () => {
    const { page, complaints } = await open(chrome.context, address);
    await ready(page);
    await page.keyboard.press("ArrowRight");
    await moves(page, 1, 99);
    // The wall's near side is at 3.9, and half of the cart is 0.4.
    await moves(page, 0, 0);
    const { position } = await cart(page);
    assert.ok(position[0] > 3 && position[0] < 3.51, `${position}`);
    assert.deepEqual(complaints, []);
    await page.close();
  });
});
