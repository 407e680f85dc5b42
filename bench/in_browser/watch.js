// @ts-check
/**
 * Runs in a page of `bench --cold` before its own scripts. Notes when the page reaches its states,
 * in milliseconds since navigation, and chooses a sample as soon as there is one.
 */

(() => {
  /** @type {Record<string, number>} */
  const marks = {};
  /**
   * Stages of the boot log: when they began and ended, and how long they took according to the
   * page.
   */
  const stages = /** @type {Record<string, {begun: number, done?: number, ms?: number}>} */ ({});
  /** @type {Map<string, () => void>} */
  const waiting = new Map();
  /** Rejects on an uncaught error, after which no further state is reached. */
  const failed = Promise.withResolvers();
  failed.promise.catch(() => {});

  /** @param {string} name */
  function mark(name) {
    if (name in marks) return;
    marks[name] = performance.now();
    performance.mark(`bench:${name}`);
    waiting.get(name)?.();
  }

  /** @param {string} id @returns {HTMLElement | null} */
  const hook = (id) => document.querySelector(`[data-testid=${id}]`);

  function look() {
    const { answer } = document.documentElement.dataset; // of the peer's page
    if (answer !== undefined) mark("answer");
    const state = hook("status")?.dataset.state;
    if (!state) return;
    // The page's scripts have removed this notice, so all listeners are attached.
    if (!document.getElementById("unstarted")) mark("started");
    if (state === "ready") mark("ready");
    const offline = hook("offline-state")?.dataset.state;
    if (offline === "kept") mark("kept");
    if (offline === "refused" || offline === "newer") {
      failed.reject(new Error(`the page's files were not cached; its offline state is ${offline}`));
    }
    if (hook("digit-result")?.textContent || hook("image-result")?.dataset.source) mark("answer");
    if (!marks.chosen && location.hash === "#classify") choose();
    log();
  }

  function choose() {
    const sample = hook("image-sample");
    if (!sample) return;
    mark("chosen");
    sample.click();
  }

  function log() {
    /** @type {Record<string, number>} */
    const seen = {};
    for (const line of hook("boot-log")?.children ?? []) {
      const { stage = "", state, ms } = /** @type {HTMLElement} */ (line).dataset;
      seen[stage] = (seen[stage] ?? 0) + 1;
      const name = seen[stage] > 1 ? `${stage} ${seen[stage]}` : stage;
      stages[name] ??= { begun: performance.now() };
      if (state !== "done" || stages[name].done) continue;
      Object.assign(stages[name], { done: performance.now(), ms: Number(ms) });
    }
  }

  const all = { subtree: true, childList: true, attributes: true };
  new MutationObserver(look).observe(document, all);
  addEventListener("error", ({ error, message }) => failed.reject(error ?? new Error(message)));
  addEventListener("unhandledrejection", ({ reason }) => failed.reject(reason));
  addEventListener("pointerdown", () => mark("pen down"), true);
  addEventListener("pointerup", () => mark("pen up"), true);

  Object.assign(window, {
    bench: {
      /** @param {string} name @param {number} patience  milliseconds */
      when: (name, patience) =>
        Promise.race([
          failed.promise,
          new Promise((resolve, reject) => {
            if (name in marks) resolve(marks[name]);
            waiting.set(name, () => resolve(marks[name]));
            setTimeout(
              () => reject(new Error(`the page did not reach "${name}" in time`)),
              patience,
            );
          }),
        ]),

      /** The position of an element: left, top, width, height. @param {string} id */
      box: (id) => {
        const { left, top, width, height } = /** @type {HTMLElement} */ (
          hook(id)
        ).getBoundingClientRect();
        return [left, top, width, height];
      },

      /** The noted times. The browser lists the paints. */
      found: () => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
        return { origin: performance.timeOrigin, marks: { paint, ...marks }, stages };
      },
    },
  });
})();
