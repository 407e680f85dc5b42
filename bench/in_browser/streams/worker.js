// @ts-nocheck: it is served beside the modules of web/
/** The page's worker with the long action of toy.py; `sources/` has the modules of web/. */

import { App } from "../worker/app.js";
import { openDevice } from "../worker/devices.js";
import { serve } from "../worker/serve.js";

const app = new App();
/** The steps that were done when the last abort arrived. */
let atAbort = null;

serve({
  async boot() {
    app.use("wasm", openDevice("wasm"));
    const { pyodide } = await app.start();
    const response = await fetch(new URL("./toy.py", import.meta.url));
    pyodide.FS.writeFile("toy.py", new Uint8Array(await response.arrayBuffer()));
    await app.ready();
    pyodide.runPython(
      "import toy, tallow_page.app as app; app.count, app.told = toy.count, toy.told",
    );
  },

  count({ total, milliseconds }, context) {
    context.signal.addEventListener("abort", async () => (atAbort = (await app.ask("told")).steps));
    return app.stream(context, "count", () => [total, milliseconds]);
  },

  /** Chooses a device again, which closes what Python had on the one before. */
  choose() {
    app.use("wasm", openDevice("wasm"));
  },

  /** A question that needs Python. */
  told: () => app.inTurn(async () => ({ ...(await app.ask("told")), atAbort })),

  /** Something else that Python is at, for so long. */
  busy: ({ milliseconds }) =>
    app.inTurn(() => new Promise((resolve) => setTimeout(resolve, milliseconds))),
});
