// A live world in a real browser: it moves, survives the death of a node, can be queried and
// entered, without errors. Against the mock, or against JOSTLE_URL.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browser, mock, open, pressBodies, quietly, ready, shoot } from "./harness.mjs";

const elsewhere = process.env.JOSTLE_URL;
let server;
let chrome;
let address;

before(async () => {
  if (!elsewhere) server = await mock("--bodies", "400");
  address = elsewhere ?? server.address;
  chrome = await browser();
});

after(async () => {
  await chrome?.stop();
  server?.stop();
});

/** Runs a test on a page of its own, and checks that the page logged no errors. */
async function onPage(run, options) {
  const opened = await open(chrome.context, address, options);
  try {
    await quietly(opened, run);
  } finally {
    await opened.page.close();
  }
}

const places = (page) =>
  page.evaluate(() => window.jostle.ids().map((id) => [id, window.jostle.position(id)]));

describe("a live world", () => {
  test("loads, shows numbers and moves", () =>
    onPage(async (page) => {
      const first = new Map(await places(page));
      const tick = await page.evaluate(() => window.jostle.tick);
      await page.waitForFunction((old) => window.jostle.tick > old + 15, tick);
      const moved = (await places(page)).filter(([id, place]) => {
        const old = first.get(id);
        return old && Math.hypot(...place.map((part, axis) => part - old[axis])) > 0.05;
      });
      assert.ok(moved.length > first.size / 4, `${moved.length} of ${first.size} moved`);
      await page.waitForFunction(() => document.querySelectorAll("#nodes li").length > 0);
      await page.waitForTimeout(2500);
      await shoot(page, "live-light");
    }));

  test("is shown dark, and on a tablet", () =>
    onPage(async (page) => {
      await page.click("#theme");
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
      await page.waitForTimeout(2500);
      await shoot(page, "live-dark");
      await page.setViewportSize({ width: 1024, height: 768 });
      await page.waitForTimeout(500);
      await shoot(page, "tablet-dark");
      await page.setViewportSize({ width: 768, height: 1024 });
      await page.click("#panel-toggle");
      await page.waitForTimeout(500);
      await shoot(page, "tablet-upright");
      await page.click("#panel-toggle");
      await page.click("#theme");
    }));

  test("has a tour that goes away and stays away", async () => {
    const { page } = await open(chrome.context, address, { tour: true });
    await page.evaluate(() => localStorage.removeItem("jostle-tour"));
    await page.reload();
    await ready(page);
    await page.waitForTimeout(1500);
    await shoot(page, "tour");
    for (let sentence = 0; sentence < 5; sentence++) await page.click("#tour-next");
    assert.equal(await page.isVisible("#tour"), false);
    await page.reload();
    await ready(page);
    assert.equal(await page.isVisible("#tour"), false);
    await page.close();
  });

  test("continues when a node is killed: its region is taken over, and nothing vanishes", () =>
    onPage(async (page) => {
      await page.waitForFunction(() => window.jostle.regions().length > 1);
      const before = await page.evaluate(() => window.jostle.regions());
      const ids = await page.evaluate(() => window.jostle.ids());
      const nodes = [...new Set(before.map((region) => region.node))];
      const victim = nodes.at(-1);
      await page.click(`[aria-label="Kill node ${victim}"]`);
      await page.waitForFunction(
        (node) => window.jostle.regions().every((region) => region.node !== node),
        victim,
      );
      const after = await page.evaluate(() => window.jostle.regions());
      const colours = (regions) => JSON.stringify(regions.map((region) => region.colour));
      assert.notEqual(colours(after), colours(before));
      await page.waitForTimeout(1500);
      const left = new Set(await page.evaluate(() => window.jostle.ids()));
      // Avatars (ids beyond 2^53) come and go at any time.
      const lost = ids.filter((id) => id.length < 17 && !left.has(id));
      assert.deepEqual(lost, []);
      await shoot(page, "killed");
      await page.click("#add-node");
      await page.waitForFunction(
        (count) => new Set(window.jostle.regions().map((one) => one.node)).size >= count,
        nodes.length,
      );
    }));

  test("names the body that is clicked", () =>
    onPage(async (page) => {
      const hits = await clickBodies(page, 600);
      assert.ok(hits.some(({ wanted, got }) => wanted === got), JSON.stringify(hits));
      const id = await page.evaluate(() => window.jostle.selected());
      assert.ok(id !== null);
      const card = await page.textContent("#card");
      assert.ok(card.includes(id), card);
      assert.match(card, /node \d+/);
      await shoot(page, "picked");
      await page.keyboard.press("Escape");
      assert.equal(await page.isVisible("#card"), false);
      assert.equal(await page.evaluate(() => window.jostle.selected()), null);
    }));

  test("shows what is too close, auras and a frozen picture", () =>
    onPage(async (page) => {
      await page.check("#layer-clearance");
      await page.fill("#clearance", "0.6");
      await page.check("#layer-auras");
      await page.waitForTimeout(1500);
      await page.click("#freeze");
      await page.waitForFunction(() => window.jostle.frozen);
      const frozen = await places(page);
      await page.waitForTimeout(700);
      assert.deepEqual(await places(page), frozen);
      await shoot(page, "clearance");
      // A click queries what is shown, however old it is.
      assert.equal(await page.evaluate(() => window.jostle.askable), true);
      const hits = await clickBodies(page, 1200);
      assert.ok(hits.some(({ wanted, got }) => wanted === got), JSON.stringify(hits));
      assert.deepEqual(await places(page), frozen);
      await page.click("#freeze");
      // The avatar of a client that has left is at rest until it is removed.
      await page.waitForFunction(
        (all) =>
          all.some(([id, old]) =>
            window.jostle.position(id)?.some((part, axis) => part !== old[axis]),
          ),
        frozen,
      );
    }));

  test("an avatar can enter, and a wall stops it", () =>
    onPage(async (page) => {
      await page.click("#walk");
      await page.waitForFunction(() => window.jostle.avatar() !== null);
      const start = await page.evaluate(() => window.jostle.avatar());
      await page.keyboard.down("KeyW");
      await page.waitForTimeout(1200);
      await shoot(page, "walking");
      const place = await standsStill(page);
      const way = Math.hypot(...place.map((part, axis) => part - start.position[axis]));
      assert.ok(way > 0.5, `went ${way} m`);
      const [low, high] = await page.evaluate(() => window.jostle.extent);
      place.forEach((part, axis) => assert.ok(part > low[axis] - 1 && part < high[axis] + 1));
      await shoot(page, "wall");
      await page.keyboard.up("KeyW");
      await page.keyboard.down("KeyS");
      await page.waitForTimeout(1500);
      await page.keyboard.up("KeyS");
      const back = await page.evaluate(() => window.jostle.avatar());
      assert.equal(back.id, start.id);
      assert.ok(Math.hypot(...back.position.map((part, axis) => part - place[axis])) > 0.5);
      // The same avatar after a reload.
      await page.reload();
      await ready(page);
      await page.click("#walk");
      await page.waitForFunction(() => window.jostle.avatar() !== null);
      assert.equal((await page.evaluate(() => window.jostle.avatar())).id, start.id);
      await page.click("#walk");
      await page.waitForFunction(() => window.jostle.avatar() === null);
    }));

  test("can be used with the keyboard alone", () =>
    onPage(async (page) => {
      const reached = new Set();
      for (let press = 0; press < 40; press++) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement?.id ?? ""));
      }
      for (const id of ["picture", "freeze", "walk", "theme", "help", "layer-regions"]) {
        assert.ok(reached.has(id), `${id} is not reached`);
      }
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll("button, input, select")]
          .filter((one) => !one.getAttribute("aria-label") && !one.labels?.length)
          .filter((one) => !one.textContent.trim())
          .map((one) => one.id),
      );
      assert.deepEqual(unnamed, []);
    }));
});

/** Comes closer, and clicks bodies until one click selects the body. */
async function clickBodies(page, wait) {
  await page.mouse.move(480, 400);
  for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -120);
  await page.waitForTimeout(800);
  const area = { left: 280, right: 900, top: 120, bottom: 620 };
  return pressBodies(page, (x, y) => page.mouse.click(x, y), { area, wait });
}

/** Waits until the avatar has not moved for a second, though a key is held. */
async function standsStill(page) {
  let last = null;
  let since = Date.now();
  const limit = Date.now() + 40_000;
  while (Date.now() < limit) {
    const { position } = await page.evaluate(() => window.jostle.avatar());
    const moved = last && Math.hypot(...position.map((part, axis) => part - last[axis]));
    if (last === null || moved > 0.05) {
      last = position;
      since = Date.now();
    } else if (Date.now() - since > 1000) return position;
    await page.waitForTimeout(100);
  }
  throw new Error("the avatar never came to rest");
}
