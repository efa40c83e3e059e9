// Pictures per second of the page in software rendering, and the cost of one:
//   node browser/fps.mjs [--seconds 8] [--dist DIR]... [1000 3000 5000]
// Several builds of the page (--dist) take turns, so that other load of the machine affects all of them.
// Pictures per second depend on other load, processor time per picture hardly does: that of the page's
// own thread, and that of all processes of the browser, which also draw.
import { parseArgs } from "node:util";
import { launch, mock, open, ready, shoot } from "./harness.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "8" },
    dist: { type: "string", multiple: true, default: [] },
  },
});
const seconds = Number(values.seconds);
const counts = positionals.length > 0 ? positionals.map(Number) : [1000, 3000, 5000];
const builds = values.dist.length > 0 ? values.dist : [null];
/** Time until the page has settled on its resolution. */
const SETTLE_MS = 7000;

for (const count of counts) for (const build of builds) await measure(count, build);

async function measure(count, build) {
  const server = await mock("--bodies", String(count), ...(build ? ["--dist", build] : []));
  const { browser, stop } = await launch();
  const { page } = await open(await browser.newContext({ viewport: { width: 1280, height: 720 } }), server.address);
  await ready(page);
  await page.waitForTimeout(SETTLE_MS);
  const spent = await meter(browser, page);
  const before = await spent();
  const rates = [];
  for (let second = 0; second < seconds; second++) {
    await page.waitForTimeout(1000);
    rates.push(await page.evaluate(() => window.jostle.fps));
  }
  const after = await spent();
  const { drawn, fineness } = await page.evaluate(() => {
    return { drawn: window.jostle.drawn, fineness: window.jostle.fineness };
  });
  rates.sort((a, b) => a - b);
  const rate = [rates[0], rates[Math.floor(seconds / 2)], rates[seconds - 1]].map((one) => one.toFixed(1));
  const each = (name) => ((1000 * (after[name] - before[name])) / (after.frames - before.frames)).toFixed(1);
  console.log(
    `${build ?? "web/dist"}: ${count} bodies, ${drawn} drawn, fineness ${fineness}: ` +
      `fps lowest ${rate[0]}, median ${rate[1]}, highest ${rate[2]}; processor time per picture: ` +
      `page ${each("page")} ms, of that script ${each("script")}; browser ${each("all")} ms`,
  );
  await shoot(page, `fps-${count}`);
  await stop();
  server.stop();
}

/** Processor time since the start, in seconds, and the number of pictures. */
async function meter(browser, page) {
  const whole = await browser.newBrowserCDPSession();
  const own = await page.context().newCDPSession(page);
  await own.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(() => {
    window.pictures = 0;
    const count = () => {
      window.pictures++;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  return async () => {
    const { metrics } = await own.send("Performance.getMetrics");
    const metric = (name) => metrics.find((one) => one.name === name)?.value ?? NaN;
    const { processInfo } = await whole.send("SystemInfo.getProcessInfo");
    return {
      frames: await page.evaluate(() => window.pictures),
      page: metric("TaskDuration"),
      script: metric("ScriptDuration"),
      all: processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0),
    };
  };
}
