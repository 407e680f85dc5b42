// @ts-check
/**
 * Runs in the page of `bench --page` before its own scripts: chooses photographs as a visitor does,
 * and times each until its answer is shown; and asks the page's worker the same again, without the
 * page.
 */

(() => {
  /** @typedef {{model: string, pixels: Uint8ClampedArray, keep: boolean}} Asked */

  /** The page's worker, and the last photograph that it was asked about. */
  let worker = /** @type {Worker | null} */ (null);
  let asked = /** @type {Asked | null} */ (null);
  /** Far from the numbers of the page's own calls. */
  let next = 1e9;

  const post = Worker.prototype.postMessage;
  /** @param {any} message @param {any} [options] */
  Worker.prototype.postMessage = function (message, options) {
    if (message?.action === "classify.photo") [worker, asked] = [this, message.args];
    return post.call(this, message, options);
  };

  /** @param {string} id @returns {any} */
  const hook = (id) => document.querySelector(`[data-testid=${id}]`);

  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Milliseconds of the model alone, for the last photograph. */
  function alone() {
    const id = next++;
    return new Promise((resolve, reject) => {
      if (!worker || !asked) throw new Error("the page has asked nothing yet");
      const from = worker;
      from.addEventListener("message", function hear({ data }) {
        if (data.id !== id) return;
        from.removeEventListener("message", hear);
        if (data.error) reject(new Error(JSON.stringify(data.error)));
        else resolve(data.result.ms);
      });
      post.call(from, { id, action: "classify.photo", args: { ...asked, keep: false } });
    });
  }

  /** @param {File} file @returns {Promise<{chosen: number, shown: number, label: string}>} */
  function choose(file) {
    const [input, list, shown] = ["image-input", "image-result", "latency"].map(hook);
    const given = new DataTransfer();
    given.items.add(file);
    return new Promise((resolve) => {
      const began = performance.now();
      const look = new MutationObserver(() => {
        if (list.dataset.source !== file.name) return;
        const chosen = performance.now() - began;
        look.disconnect();
        const label = list.firstElementChild.dataset.label;
        resolve({ chosen, shown: Number(shown.dataset.ms), label });
      });
      look.observe(list, { attributes: true });
      input.files = given.files;
      input.dispatchEvent(new Event("change"));
    });
  }

  Object.assign(window, {
    bench: {
      /**
       * Choose photographs one after the other; after each, ask the worker the same again.
       * @param {string[]} names  below samples/
       * @param {number} rest  milliseconds before each
       */
      async photographs(names, rest) {
        const files = [];
        for (const [number, name] of names.entries()) {
          const content = await (await fetch(`samples/${name}`)).blob();
          files.push(new File([content], `${number}-${name}`, { type: content.type }));
        }
        const found = [];
        for (const [number, file] of files.entries()) {
          await pause(rest);
          const answer = await choose(file);
          await pause(rest);
          found.push({ file: names[number], ...answer, alone: await alone() });
        }
        return found;
      },
    },
  });
})();
