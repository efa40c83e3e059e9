// How many pictures per second the page makes in software rendering, for several numbers of bodies:
//   node browser/fps.mjs [1000 3000 5000]
import { browser, mock, open, ready, shoot } from "./harness.mjs";

const counts = process.argv.slice(2).map(Number);
const SECONDS = 8;

for (const count of counts.length > 0 ? counts : [1000, 3000, 5000]) {
  const server = await mock("--bodies", String(count));
  const { context, stop } = await browser();
  const { page } = await open(context, server.address);
  await ready(page);
  await page.waitForTimeout(7000);
  const rates = [];
  for (let second = 0; second < SECONDS; second++) {
    await page.waitForTimeout(1000);
    rates.push(await page.evaluate(() => window.jostle.fps));
  }
  const { drawn, fineness } = await page.evaluate(() => {
    return { drawn: window.jostle.drawn, fineness: window.jostle.fineness };
  });
  rates.sort((a, b) => a - b);
  const words = [rates[0], rates[SECONDS / 2], rates[SECONDS - 1]].map((rate) => rate.toFixed(1));
  console.log(`${count} bodies, ${drawn} drawn: lowest, median, highest fps ${words.join(", ")} at ${fineness} pixels`);
  await shoot(page, `fps-${count}`);
  await stop();
  server.stop();
}
