// @ts-check
/**
 * The page that `build.py run` and the tests drive: Python in a worker, with nothing to see.
 *
 * `window.tallow` is the worker's client (rpc.js). worker/script.js lists its actions and events:
 *
 *     tallow.on("stdout", ({ text }) => console.log(text));
 *     await tallow.call("boot", { device: "webgpu" });
 *     await tallow.call("write", { path: "data.bin", bytes: new Uint8Array(4) });
 *     await tallow.call("exec", { code: "import tallow as tl\n1 + 1", filename: "sum.py" });
 *     // {status: 0, result: 2}
 */

import { Rpc } from "../engine/rpc.js";

const tallow = new Rpc(new URL("../worker/script.js", import.meta.url));
Object.assign(window, { tallow });
