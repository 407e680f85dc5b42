// @ts-check
/**
 * Lighthouse on the page: opened at "Draw", then at "Classify" while a sample is recognised and
 * with the answer. test_lighthouse.py runs it with Node.js and reads what it prints.
 *
 *     node lighthouse.js '{"address": URL, "chromium": PATH, "args": [...]}'
 *
 * It prints {"device": string, "steps": [{"name", "scores", "problems"}]}.
 */

import { startFlow } from "lighthouse";
import process from "node:process";
import puppeteer from "puppeteer-core";

const PATIENCE = 60_000;

const { address, chromium, args } = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: chromium, args });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const settings = { onlyCategories: ["accessibility", "best-practices"] };
  const flow = await startFlow(page, {
    config: {
      extends: "lighthouse:default",
      settings: { ...settings, throttlingMethod: "provided" },
    },
  });

  await flow.navigate(address, { name: "Draw" });
  await page.waitForSelector("[data-testid=status][data-state=ready]");
  await page.click("#to-classify");
  await (await page.$(".samples"))?.scrollIntoView(); // they are fetched once they are seen
  const sample = await page.waitForSelector("[data-testid=image-sample]");
  await flow.startTimespan({ name: "Classify, while it computes" });
  await sample?.click();
  await page.waitForSelector("[data-testid=image-result][data-source]");
  await flow.endTimespan();
  await flow.snapshot({ name: "Classify, with an answer" });

  const info = await page.waitForSelector("[data-testid=device-info]");
  const device = await info?.evaluate((element) => element.getAttribute("data-device"));
  const { steps } = await flow.createFlowResult();
  process.stdout.write(JSON.stringify({ device, steps: steps.map(judged) }));
} finally {
  await browser.close();
}

/**
 * A step's scores by category, and each audit that counts and was not passed, in words.
 * @param {import("lighthouse").FlowResult.Step} step
 */
function judged({ name, lhr }) {
  const { categories, audits } = lhr;
  const counted = Object.values(categories).flatMap(({ auditRefs }) => auditRefs);
  const failed = counted
    .filter(({ id, weight }) => weight > 0 && (audits[id].score ?? 1) < 1)
    .map(({ id }) => audits[id]);
  return {
    name,
    scores: Object.fromEntries(Object.values(categories).map(({ id, score }) => [id, score])),
    problems: failed.map(({ id, title, details, errorMessage }) =>
      JSON.stringify({
        id,
        title,
        errorMessage,
        items: details && "items" in details && details.items,
      }),
    ),
  };
}
