// Gamepad and touch, in a real browser: an avatar is steered, the picture turned, brought closer and
// queried. Against the mock, or against JOSTLE_URL.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browser, mock, open, pressBodies, quietly, shoot } from "./harness.mjs";

const elsewhere = process.env.JOSTLE_URL;
const TABLET = { width: 1024, height: 768 };
let server;
let address;

before(async () => {
  if (!elsewhere) server = await mock("--bodies", "400");
  address = elsewhere ?? server.address;
});

after(() => server?.stop());

/** Runs a test on a page of a browser of its own, and checks that the page logged no errors. */
async function onDevice(more, prepare, run) {
  const chrome = await browser(more.viewport ?? { width: 1280, height: 720 }, more);
  try {
    await prepare(chrome.context);
    await quietly(await open(chrome.context, address), run);
  } finally {
    await chrome.stop();
  }
}

const apart = (a, b) => Math.hypot(...a.map((part, axis) => part - b[axis]));
const avatar = (page) => page.evaluate(() => window.jostle.avatar());
const camera = (page) => page.evaluate(() => window.jostle.camera());

/** Waits until the avatar has moved this far. */
async function goes(page, from, metres) {
  await page.waitForFunction(
    ([place, far]) => {
      const now = window.jostle.avatar()?.position;
      return now && Math.hypot(...now.map((part, axis) => part - place[axis])) > far;
    },
    [from, metres],
  );
}

/** Returns true if the avatar comes to rest. A busy world applies the input late. */
async function stops(page) {
  for (let tries = 0; tries < 10; tries++) {
    const before = (await avatar(page)).position;
    await page.waitForTimeout(400);
    if (apart((await avatar(page)).position, before) < 0.3) return true;
  }
  return false;
}

async function walkIn(page, press) {
  await press("#walk");
  await page.waitForFunction(() => window.jostle.avatar() !== null);
  return (await avatar(page)).position;
}

describe("a gamepad", () => {
  /** A gamepad that the test moves. */
  const plugIn = (context) =>
    context.addInitScript(() => {
      const button = () => ({ pressed: false, touched: false, value: 0 });
      const pad = {
        id: "test pad",
        index: 0,
        connected: true,
        mapping: "standard",
        timestamp: 0,
        axes: [0.08, -0.05, 0, 0],
        buttons: Array.from({ length: 17 }, button),
      };
      window.testPad = pad;
      navigator.getGamepads = () => [null, pad];
    });
  const set = (page, change) =>
    page.evaluate(({ axes, button }) => {
      if (axes) window.testPad.axes = axes;
      if (button) window.testPad.buttons[button[0]].value = button[1];
    }, change);

  test("steers the avatar, moves it up, and turns the picture", () =>
    onDevice({}, plugIn, async (page) => {
      const start = await walkIn(page, (id) => page.click(id));
      // A stick that does not rest exactly in the middle moves nothing.
      await page.waitForTimeout(500);
      assert.ok(apart((await avatar(page)).position, start) < 0.2);
      await set(page, { axes: [0, -1, 0, 0] });
      await goes(page, start, 1);
      await set(page, { axes: [0, 0, 0, 0] });
      assert.ok(await stops(page), "it stops with the stick");
      const there = (await avatar(page)).position;
      // The cross works like a stick, and the first button moves up.
      await set(page, { button: [13, 1] });
      await goes(page, there, 0.5);
      await set(page, { button: [13, 0] });
      const low = (await avatar(page)).position[1];
      await set(page, { button: [0, 1] });
      await page.waitForFunction((y) => window.jostle.avatar().position[1] > y + 0.4, low);
      await set(page, { button: [0, 0] });
      const { yaw } = await camera(page);
      await set(page, { axes: [0, 0, 1, 0] });
      await page.waitForFunction((old) => Math.abs(window.jostle.camera().yaw - old) > 0.3, yaw);
      await set(page, { axes: [0, 0, 0, 0] });
      await page.click("#walk");
    }));
});

describe("a tablet", () => {
  const tablet = { viewport: TABLET, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };
  const touches = async (page) => {
    const cdp = await page.context().newCDPSession(page);
    return (type, ...points) =>
      cdp.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: points.map(([x, y], id) => ({ x, y, id })),
      });
  };

  test("turns with one finger, comes closer with two, and selects with a tap", () =>
    onDevice(tablet, async () => {}, async (page) => {
      await page.waitForTimeout(800);
      const touch = await touches(page);
      const before = await camera(page);
      await touch("touchStart", [300, 400]);
      for (let x = 300; x <= 420; x += 20) await touch("touchMove", [x, 400]);
      await touch("touchEnd");
      await page.waitForTimeout(300);
      const turned = await camera(page);
      assert.ok(Math.abs(turned.yaw - before.yaw) > 0.3, `${before.yaw} to ${turned.yaw}`);
      assert.equal(await page.evaluate(() => window.jostle.selected()), null, "a drag is no click");
      await touch("touchStart", [300, 400], [400, 400]);
      for (let by = 0; by <= 120; by += 20) await touch("touchMove", [300 - by, 400], [400 + by, 400]);
      await touch("touchEnd");
      await page.waitForTimeout(800);
      const close = await camera(page);
      assert.ok(close.distance < turned.distance * 0.6, `${turned.distance} to ${close.distance}`);
      assert.equal(await page.evaluate(() => window.jostle.selected()), null, "nor is a pinch");
      await shoot(page, "tablet-touch");
      // A frozen picture does not move away from the finger.
      await page.tap("#freeze");
      await page.waitForFunction(() => window.jostle.frozen);
      const area = { left: 120, right: 600, top: 160, bottom: 600 };
      const tap = (x, y) => page.touchscreen.tap(x, y);
      const hits = await pressBodies(page, tap, { area, wait: 1200 });
      assert.ok(hits.some(({ wanted, got }) => wanted === got), JSON.stringify(hits));
      await page.tap("#freeze");
    }));

  test("steers the avatar with a stick", () =>
    onDevice(tablet, async () => {}, async (page) => {
      assert.equal(await page.isVisible("#stick"), false);
      const start = await walkIn(page, (id) => page.tap(id));
      assert.equal(await page.isVisible("#stick"), true);
      const { x, y, width } = await page.locator("#stick-pad").boundingBox();
      const middle = [x + width / 2, y + width / 2];
      const touch = await touches(page);
      await touch("touchStart", middle);
      await touch("touchMove", [middle[0], middle[1] - width / 2]);
      await goes(page, start, 1);
      await shoot(page, "tablet-stick");
      await touch("touchEnd");
      assert.ok(await stops(page), "it stops with the finger");
      await page.tap("#walk");
      await page.waitForFunction(() => window.jostle.avatar() === null);
      assert.equal(await page.isVisible("#stick"), false);
    }));

  test("can be read upright, with and without the panel", () =>
    onDevice({ ...tablet, viewport: { width: 768, height: 1024 } }, async () => {}, async (page) => {
      await page.waitForTimeout(1500);
      await shoot(page, "tablet-upright-touch");
      await page.tap("#panel-toggle");
      await page.waitForTimeout(500);
      await shoot(page, "tablet-upright-panel");
      const outside = await page.evaluate(() =>
        [...document.querySelectorAll("#panel *, #bar *")]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.id || one.className),
      );
      assert.deepEqual(outside, []);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll("#bar button")]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 34)
          .map((one) => one.id),
      );
      assert.deepEqual(small, [], "too small for a finger");
    }));
});
