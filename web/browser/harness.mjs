// Set-up of the tests in a real browser: Chromium, a server, and a page without errors.
//
// JOSTLE_URL is the address of a running demo to test instead of the mock, JOSTLE_RECORDING_URL that of
// a recording; tests that need a mock of another kind are then skipped.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const ARTEFACTS = fileURLToPath(new URL("../artefacts/", import.meta.url));
export const PATIENCE_MS = 30_000;

/** Starts a mock; returns its address and a function that ends it. */
export async function mock(...options) {
  const script = fileURLToPath(new URL("../dev/mock.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, "--port", "0", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const address = await new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => resolve(String(text).match(/http\S+/)?.[0]));
    child.on("exit", (code) => reject(new Error(`the mock ended with ${code}`)));
  });
  // A failing test leaves it running: it ends with this process, and does not keep the process alive.
  process.once("exit", () => child.kill());
  child.unref();
  child.stdout.unref();
  return { address, stop: () => child.kill() };
}

/** A browser with an empty profile. */
export async function launch() {
  await mkdir(ARTEFACTS, { recursive: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  return { browser, stop: () => browser.close() };
}

/** A browser context without storage. */
export async function browser(size = { width: 1280, height: 720 }, more = {}) {
  const folder = await mkdtemp(join(tmpdir(), "jostle-web-"));
  await mkdir(ARTEFACTS, { recursive: true });
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: size,
    ...more,
  });
  const stop = async () => {
    await context.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { context, stop };
}

/** Opens the page and waits for a world. `complaints` are all errors and warnings of its console. */
export async function open(context, address, { tour = false } = {}) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  page.on("console", (message) => {
    const kind = message.type();
    // The test reads pixels for a screenshot, not the page.
    if (message.text().includes("GPU stall due to ReadPixels")) return;
    if (kind === "error" || kind === "warning") complaints.push(`${kind}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`thrown: ${error.message}`));
  if (!tour) await page.addInitScript(() => localStorage.setItem("jostle-tour", "seen"));
  await page.goto(address);
  return { page, complaints };
}

export async function ready(page) {
  await page.waitForFunction(() => window.jostle?.ready);
}

/** Runs a test on a page that is ready, and checks that the page has no errors. */
export async function quietly({ page, complaints }, run) {
  await ready(page);
  await run(page);
  assert.deepEqual(complaints, []);
  assert.equal(await page.evaluate(() => window.jostle.faults), 0);
}

/** A screenshot of the page, kept for review. */
export async function shoot(page, name) {
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}

/**
 * Presses on isolated bodies on the screen until one press selects the body. Returns the expected and the
 * selected body of each press. Some presses miss: a knot has holes, and a body in front may be wider than
 * its centre suggests.
 */
export async function pressBodies(page, press, { area, tries = 12, wait = 600 }) {
  const hits = [];
  for (let turn = 0; turn < tries; turn++) {
    const target = await page.evaluate(lonelyBody, { area, skip: turn });
    if (target === null) break;
    await press(...target.at);
    await page.waitForTimeout(wait);
    hits.push({ wanted: target.id, got: await page.evaluate(() => window.jostle.selected()) });
    if (hits.at(-1).wanted === hits.at(-1).got) break;
  }
  return hits;
}

/** In the page: the body whose nearest neighbour on the screen is farthest, or the next best. */
function lonelyBody({ area: { left, right, top, bottom }, skip }) {
  const seen = window.jostle
    .ids()
    .map((id) => ({ id, at: window.jostle.screenOf(id), v: window.jostle.velocity(id) }))
    .filter(({ at, v }) => at && Math.hypot(...v) > 0 && Math.hypot(...v) < 5)
    .filter(({ at: [x, y] }) => x > left && x < right && y > top && y < bottom);
  const apart = (one) =>
    Math.min(
      ...seen.filter((other) => other !== one).map((other) =>
        Math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]),
      ),
    );
  const ranked = seen.map((one) => ({ ...one, apart: apart(one) }));
  ranked.sort((a, b) => b.apart - a.apart);
  return ranked[skip] ?? null;
}
