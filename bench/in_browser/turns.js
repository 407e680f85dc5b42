// @ts-check
/** A turn of jax-js, eager and compiled, as turns.py has it; bench/turns.py calls what it puts into
 * the window. Arrays are counted by hand there: an operation consumes its operands. */

// @ts-ignore: served by bench/turns.py
const jax = await import("/jax/index.js");
const { defaultDevice, init, jit, numpy: np } = jax;

if (!(await init("webgpu")).includes("webgpu")) throw new Error("jax-js found no WebGPU");
defaultDevice("webgpu");

const SIDE = 256;

/** @param {number} scale */
function matrix(scale) {
  const data = Float32Array.from({ length: SIDE * SIDE }, (_, index) => {
    const [i, j] = [Math.floor(index / SIDE), index % SIDE];
    return (((7 * i + 3 * j) % 11) - 5) * scale;
  });
  return np.array(data, { shape: [SIDE, SIDE], dtype: np.float32 });
}

const [x, w] = [matrix(0.1), matrix(0.1)];

/** @param {any} y  consumed */
function step(y, weight = w.ref) {
  for (let i = 0; i < 5; i++) y = np.tanh(y.mul(2.0));
  return np.matmul(y, weight);
}

const compiled = jit(step);
/** @type {Record<string, (y: any) => any>} */
const MODES = { eager: (y) => step(y), jit: (y) => compiled(y, w.ref) };

Object.assign(window, {
  /** The sum of the squares of what a turn gives. @param {string} mode */
  async answer(mode) {
    return await np.sum(np.square(MODES[mode](x.ref))).jsAsync();
  },

  /** Milliseconds a turn, for the host and as a whole. @param {string} mode @param {number} count */
  async turns(mode, count) {
    const began = performance.now();
    let y = x.ref;
    for (let i = 0; i < count; i++) y = MODES[mode](y);
    const called = performance.now();
    await np.sum(y).jsAsync();
    const ended = performance.now();
    return { host: (called - began) / count, whole: (ended - began) / count };
  },
});

export {};
