// What a page of each kind of world has: findings of a check, recordings and scenes without empty
// panels, small windows, correct figures. Against the mock; JOSTLE_CHECK_URL is the address of
// `jostle check scenes/car.wrl --clearance 0.01 --view`, JOSTLE_CAR_URL of `jostle run` with that scene.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browser, mock, open, quietly, shoot } from "./harness.mjs";

const elsewhere = process.env.JOSTLE_URL;
const PHONE = { width: 390, height: 844 };
let chrome;

before(async () => (chrome = await browser()));
after(async () => chrome?.stop());

/** Runs a test on a page of a server that is ended afterwards, and checks that the page logged no errors. */
async function onPage(where, run, size) {
  const server = Array.isArray(where) ? await mock(...where) : { address: where, stop: () => {} };
  const opened = await open(chrome.context, server.address);
  try {
    if (size) {
      await opened.page.setViewportSize(size);
      await opened.page.reload();
    }
    await quietly(opened, run);
  } finally {
    await opened.page.close();
    server.stop();
  }
}

const findings = (page) => page.evaluate(() => window.jostle.findings);
const camera = (page) => page.evaluate(() => window.jostle.camera());
const listed = (page, count) =>
  page.waitForFunction((wanted) => window.jostle.findings.listed === wanted, count);

describe("car.wrl", { skip: !process.env.JOSTLE_CHECK_URL }, () => {
  test("car_findings_are_listed_and_selectable", () =>
    onPage(process.env.JOSTLE_CHECK_URL, async (page) => {
      await listed(page, 2);
      await page.waitForTimeout(1500);
      await shoot(page, "check");
      const text = await page.textContent("#finding-list");
      for (const name of ["EXHAUST", "REAR_CROSS_MEMBER", "REAR_LEFT_ARCH", "REAR_LEFT_WHEEL"]) {
        assert.ok(text.includes(name), text);
      }
      assert.match(text, /0\.004022/);
      const far = (await camera(page)).distance;
      await page.locator("#finding-list button").first().click();
      await page.waitForTimeout(1200);
      const chosen = await findings(page);
      const names = await page.evaluate((ids) => {
        const named = (name) => ids.includes(window.jostle.named(name));
        return [named("EXHAUST"), named("FRAME/REAR_CROSS_MEMBER")];
      }, chosen.current);
      assert.deepEqual(names, [true, true]);
      assert.ok(chosen.points > 0 && chosen.lines > 0, JSON.stringify(chosen));
      assert.ok((await camera(page)).distance < far / 2, "the camera flies there");
      await shoot(page, "check-overlap");
      await page.keyboard.press("n");
      await page.waitForTimeout(1200);
      assert.match(await page.textContent("#finding"), /0\.004022 m apart.*clearance 0\.01 m/);
      assert.equal((await findings(page)).points, 2);
      await shoot(page, "check-close");
    }));

  test("parts_of_a_scene_are_surfaces_and_static_contacts_agree_with_the_check", () =>
    onPage(process.env.JOSTLE_CAR_URL, async (page) => {
      const solid = await page.evaluate(() => window.jostle.ids().map((id) => window.jostle.solid(id)));
      assert.ok(solid.length === 17 && solid.every((one) => one), JSON.stringify(solid));
      assert.equal(await page.isVisible("#findings"), false);
      await page.check("#layer-clearance");
      await page.fill("#clearance", "0.01");
      await page.check("#layer-static");
      await listed(page, 2);
      const text = await page.textContent("#finding-list");
      assert.match(text, /touch.*EXHAUST/s);
      assert.match(text, /0\.004022 m/);
      await shoot(page, "scene-static");
      await page.uncheck("#layer-static");
      assert.equal(await page.isVisible("#findings"), false);
    }));
});

describe("a page of its kind", { skip: !!elsewhere }, () => {
  test("findings_are_filtered_by_kind_and_name_and_stepped_through_by_keys", () =>
    onPage(["--check", "--bodies", "40"], async (page) => {
      await listed(page, 3);
      assert.equal(await page.textContent("#line"), "check");
      for (const id of ["#nodes-section", "#network-section", "#chart-section", "#freeze", "#walk"]) {
        assert.equal(await page.isVisible(id), false, id);
      }
      await page.keyboard.press("n");
      await page.keyboard.press("n");
      assert.deepEqual((await findings(page)).current, ["100", "106"]);
      await page.keyboard.press("p");
      assert.deepEqual((await findings(page)).current, ["106", "107"]);
      await page.locator("#finding-kinds button", { hasText: "overlap" }).click();
      await listed(page, 2);
      assert.equal((await findings(page)).current, null);
      await page.fill("#finding-search", "other");
      await listed(page, 1);
      await page.locator("#finding-list button").click();
      assert.match(await page.textContent("#finding"), /0\.05 mm apart/);
      await page.keyboard.press("Escape");
    }));

  test("a_recording_has_its_own_controls", () =>
    onPage(["--recording"], async (page) => {
      await page.waitForFunction(() => document.querySelector("#line").textContent.startsWith("recording"));
      assert.equal(await page.isVisible("#network-section"), false);
      assert.equal(await page.isVisible("#chart-section"), false);
      assert.equal(await page.isVisible("#walk"), false);
    }));

  test("a_stalled_world_is_not_called_live", () =>
    onPage(["--bodies", "60", "--stall", "5"], async (page) => {
      await page.waitForFunction(() => document.querySelector("#line").textContent === "live");
      await page.waitForFunction(() => document.querySelector("#line").textContent.startsWith("stalled"));
      await page.waitForFunction(() => {
        const facts = [...document.querySelectorAll("#numbers div")].map((one) => one.textContent);
        return facts.includes("Step—") && facts.includes("Pairs tested—");
      });
      await page.waitForFunction(() => document.querySelector("#numbers").textContent.includes("Ticks/s—"));
    }));

  test("a_spike_does_not_flatten_the_chart", () =>
    onPage(["--bodies", "60", "--spike"], async (page) => {
      await page.waitForFunction(() => window.jostle.clipped > 0);
      await shoot(page, "spike");
    }));

  test("the_card_and_the_colour_agree", () =>
    onPage(["--bodies", "400"], async (page) => {
      await page.keyboard.press("/");
      await page.fill("#object-search", "RESTING_BALL");
      await page.locator("#object-list .name").click();
      assert.equal(await page.textContent("#card-title"), "RESTING_BALL");
      await page.click("#freeze");
      await page.waitForFunction(() => window.jostle.frozen);
      await page.waitForTimeout(500);
      const { partners, card } = await page.evaluate(() => {
        const id = window.jostle.selected();
        const rows = [...document.querySelectorAll("#card-facts div")].map((one) => one.textContent);
        return { partners: window.jostle.partners(id), card: rows.find((one) => one.startsWith("Touches")) };
      });
      if (partners.length === 0) assert.match(card, /nothing|close/);
      else assert.doesNotMatch(card, /nothing/);
    }));

  test("objects_are_searched_hidden_and_isolated", () =>
    onPage(["--bodies", "60"], async (page) => {
      const drawn = () => page.evaluate(() => window.jostle.drawn);
      await page.click("#objects summary");
      await page.fill("#object-search", "other_ball");
      assert.equal(await page.locator("#object-list li").count(), 1);
      await page.click('[aria-label="Isolate OTHER_BALL"]');
      await page.waitForFunction(() => window.jostle.drawn === 1);
      await page.click("#show-all-bar");
      await page.waitForFunction(() => window.jostle.drawn > 20);
      const all = await drawn();
      await page.click('[aria-label="Hide OTHER_BALL"]');
      await page.waitForFunction((before) => window.jostle.drawn < before, all);
      await page.keyboard.press("Escape");
      await page.locator("#picture").focus();
      await page.keyboard.press("u");
      await page.waitForFunction(() => window.jostle.drawn > 20);
    }));

  test("keys_are_listed_under_the_question_mark", () =>
    onPage(["--bodies", "60"], async (page) => {
      await page.keyboard.press("Shift+?");
      assert.equal(await page.isVisible("#help-dialog"), true);
      assert.match(await page.textContent("#help-dialog"), /isolate/);
      await page.keyboard.press("Escape");
      assert.equal(await page.isVisible("#help-dialog"), false);
    }));

  test("the_first_view_shows_the_whole_hall", () =>
    onPage(["--bodies", "200"], async (page) => {
      await page.waitForTimeout(1500);
      const outside = await page.evaluate(() => {
        const { width, height, left, top } = document.querySelector("#picture").getBoundingClientRect();
        return window.jostle.ids().filter((id) => {
          const at = window.jostle.screenOf(id);
          return !at || at[0] < left || at[1] < top || at[0] > left + width || at[1] > top + height;
        });
      });
      assert.deepEqual(outside, []);
    }));
});

describe("a telephone", { skip: !!elsewhere }, () => {
  const worlds = {
    live: ["--bodies", "60"],
    recording: ["--recording"],
    scene: ["--bodies", "40", "--keys"],
    check: ["--check", "--bodies", "40"],
  };
  for (const [name, options] of Object.entries(worlds)) {
    test(`nothing_is_cut_off_at_390_px: ${name}`, () =>
      onPage(
        options,
        async (page) => {
          await page.waitForTimeout(1200);
          if (name === "check") await page.keyboard.press("n");
          assert.deepEqual(await page.evaluate(cutOff), []);
          await page.waitForTimeout(700);
          await shoot(page, `phone-${name}`);
          await page.keyboard.press("Escape");
          await page.click("#panel-toggle");
          await page.waitForTimeout(300);
          assert.deepEqual(await page.evaluate(cutOff), []);
          await shoot(page, `phone-${name}-panel`);
        },
        PHONE,
      ));
  }
});

/** In the page: visible elements that leave the window, are wider than their box, or overlap a neighbour. */
function cutOff() {
  const wrong = [];
  const name = (one) => one.id || `${one.parentElement?.id} ${one.tagName} ${one.textContent.slice(0, 20)}`;
  const seen = [...document.querySelectorAll("button, input, select, dd, dt, h1, h2, p, output, label")];
  for (const one of seen.filter((each) => each.checkVisibility())) {
    const box = one.getBoundingClientRect();
    const scrolls = one.closest("#panel, #object-list, #finding-list");
    if (box.left < -0.5 || box.right > window.innerWidth + 0.5) wrong.push(`${name(one)} leaves the window`);
    if (!scrolls && box.bottom > window.innerHeight + 0.5) wrong.push(`${name(one)} is below the window`);
    const clips = getComputedStyle(one).textOverflow === "ellipsis";
    if (!clips && one.tagName !== "INPUT" && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0) {
      wrong.push(`${name(one)} is wider than its box`);
    }
  }
  const parts = ["bar", "panel-toggle", "legend", "replay", "scene-keys", "finding", "card", "stick"]
    .map((id) => document.getElementById(id))
    .filter((one) => one.checkVisibility());
  for (const one of parts)
    for (const other of parts) {
      if (one.id >= other.id) continue;
      const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        wrong.push(`${one.id} lies over ${other.id}`);
    }
  return wrong;
}
