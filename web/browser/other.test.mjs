// Recordings, tokens, lost connections and malformed servers. The recording may be a real one
// (JOSTLE_RECORDING_URL); the rest needs the mock.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browser, mock, open, ready, shoot } from "./harness.mjs";

const mockOnly = { skip: process.env.JOSTLE_URL !== undefined && "needs the mock" };
let chrome;

before(async () => (chrome = await browser()));
after(() => chrome?.stop());

/** Runs a test on a page of a mock of its own, and looks whether the page complained. */
async function onMock(options, run) {
  const server = await mock(...options);
  const { page, complaints } = await open(chrome.context, server.address);
  await ready(page);
  await run(page);
  assert.deepEqual(complaints, []);
  await page.close();
  server.stop();
}

test("a recording is played, scrubbed and searched for collisions", async () => {
  const elsewhere = process.env.JOSTLE_RECORDING_URL;
  if (!elsewhere && mockOnly.skip) return;
  const server = elsewhere ? null : await mock("--recording");
  try {
    const { page, complaints } = await open(chrome.context, elsewhere ?? server.address);
    await ready(page);
    assert.ok(await page.isVisible("#replay"));
    assert.equal(await page.isVisible("#walk"), false);
    const line = page.locator("#replay-tick");
    const [first, last] = [await line.getAttribute("min"), await line.getAttribute("max")].map(Number);
    const middle = Math.round((first + last) / 2);
    const at = (tick) => page.waitForFunction((wanted) => Math.round(window.jostle.tick) === wanted, tick);
    if ((await page.getAttribute("#replay-play", "aria-label")) === "Pause") {
      await page.click("#replay-play");
    }
    await line.fill(String(middle));
    await at(middle);
    const there = await page.evaluate(() => window.jostle.ids().map(window.jostle.position));
    await page.click("#replay-forward");
    await at(middle + 1);
    await page.keyboard.press(",");
    await at(middle);
    const again = await page.evaluate(() => window.jostle.ids().map(window.jostle.position));
    assert.equal(again.length, there.length);
    // Extrapolated positions deviate by up to a millimetre.
    const off = again.flat().map((part, at) => Math.abs(part - there.flat()[at]));
    assert.ok(Math.max(...off) < 0.002, `off by ${Math.max(...off)} m`);
    await page.keyboard.press("n");
    await page.waitForFunction((tick) => Math.round(window.jostle.tick) > tick, middle);
    await page.waitForFunction(() => window.jostle.touching > 0);
    await shoot(page, "replay");
    await page.selectOption("#replay-speed", "2");
    const now = await page.evaluate(() => window.jostle.tick);
    await page.click("#replay-play");
    await page.waitForFunction((tick) => window.jostle.tick > tick + 20, now);
    await page.click("#replay-play");
    assert.deepEqual(complaints, []);
    await page.close();
  } finally {
    server?.stop();
  }
});

describe("with the mock", mockOnly, () => {
  test("a token is asked for, and kept", async () => {
    const server = await mock("--token", "sesame");
    const { page, complaints } = await open(chrome.context, server.address);
    await page.waitForSelector("#token", { state: "visible" });
    await shoot(page, "token");
    await page.fill("#token-word", "wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#token", { state: "visible" });
    await page.fill("#token-word", "sesame");
    await page.keyboard.press("Enter");
    await ready(page);
    await page.reload();
    await ready(page);
    await page.close();
    const second = await open(chrome.context, `${server.address}?token=sesame`);
    await ready(second.page);
    assert.equal(new URL(second.page.url()).search, "");
    assert.deepEqual([...complaints, ...second.complaints], []);
    await second.page.close();
    server.stop();
  });

  test("regions of all groups are drawn, and every body has its own group's owner", () =>
    onMock(["--bodies", "60", "--groups"], async (page) => {
      await page.waitForFunction(() => window.jostle.regions().some((one) => one.group === 3));
      const regions = await page.evaluate(() => window.jostle.regions());
      assert.deepEqual([...new Set(regions.map((one) => `${one.group}/${one.node}`))].sort(), [
        "0/1",
        "0/2",
        "0/3",
        "0/4",
        "3/9",
      ]);
      assert.equal(new Set(regions.map((one) => one.colour)).size, 5);
      const owners = await page.evaluate(() => window.jostle.ids().map((id) => window.jostle.owner(id)));
      const counts = new Map();
      for (const owner of owners) counts.set(owner.group, (counts.get(owner.group) ?? 0) + 1);
      assert.equal(counts.get(3), 12);
      assert.ok(counts.get(0) >= 60);
      await page.waitForFunction(() => document.querySelector("#nodes").textContent.includes("group 3"));
      assert.match(await page.textContent("#nodes"), /121 ms/);
      await page.waitForTimeout(1500);
      await shoot(page, "groups");
    }));

  test("a frozen picture that the server does not hold cannot be queried", () =>
    onMock(["--bodies", "60", "--no-hold"], async (page) => {
      await page.click("#freeze");
      await page.waitForFunction(() => window.jostle.frozen);
      assert.equal(await page.evaluate(() => window.jostle.askable), false);
      await page.mouse.click(480, 400);
      await page.waitForFunction(() => document.querySelector("#notice").textContent.includes("frozen on this page only"));
      assert.equal(await page.evaluate(() => window.jostle.selected()), null);
      await page.click("#freeze");
      await page.waitForFunction(() => window.jostle.askable && !window.jostle.frozen);
    }));

  test("a lost connection is opened again", async () => {
    const first = await mock();
    const { page } = await open(chrome.context, first.address);
    await ready(page);
    first.stop();
    await page.waitForSelector("#line[data-state=waiting]");
    assert.match(await page.textContent("#notice"), /reconnecting/);
    await shoot(page, "line-lost");
    const second = await mock("--port", new URL(first.address).port);
    await page.waitForSelector("#line[data-state=open]");
    const tick = await page.evaluate(() => window.jostle.tick);
    await page.waitForFunction((old) => window.jostle.tick !== old, tick);
    await page.close();
    second.stop();
  });

  test("faces and segments of a selected body that touches are shown", () =>
    onMock(["--bodies", "40"], async (page) => {
      await page.waitForTimeout(500);
      await page.mouse.click(...(await page.evaluate(() => window.jostle.screenOf("106"))));
      await page.waitForFunction(() => window.jostle.contacts.faces > 0);
      assert.equal(await page.evaluate(() => window.jostle.contacts.segments), 1);
      assert.equal(await page.textContent("#card-title"), "RESTING_BALL");
      await page.keyboard.press("3");
      for (let turn = 0; turn < 12; turn++) await page.mouse.wheel(0, -120);
      await page.waitForTimeout(1200);
      await shoot(page, "contacts");
    }));

  test("malformed messages are counted and does no harm", () =>
    onMock(["--hostile"], async (page) => {
      await page.waitForFunction(() => window.jostle.faults > 12);
      const tick = await page.evaluate(() => window.jostle.tick);
      await page.waitForFunction((old) => window.jostle.tick > old + 15, tick);
      assert.equal(await page.evaluate(() => window.jostle.bodies), 312);
      assert.match(await page.textContent("#lines"), /Ignored messages/);
    }));
});
