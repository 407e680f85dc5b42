// @ts-check
/** Training steps of jax-js, each one function under its jit; bench/training.py calls what this puts
 * into the window. Weights and batches follow from the formulas of batches.py. Arrays are counted
 * by hand in jax-js: an operation consumes its operands, and `ref` keeps one. */

// @ts-ignore: served by bench/training.py
const jax = await import("/jax/index.js");
const { blockUntilReady, defaultDevice, init, jit, lax, nn, numpy: np, tree, valueAndGrad } = jax;

const device = new URLSearchParams(location.search).get("device") ?? "webgpu";
if (!(await init(device)).includes(device)) throw new Error(`jax-js found no ${device}`);
defaultDevice(device);

const BATCH = 64;
const [HEADS, LAYERS, WIDTH, CONTEXT, VOCABULARY, SEQUENCES] = [4, 4, 128, 128, 256, 8];
const LINES = 16;

/** @param {number} count @param {number} seed @param {number} scale */
const numbers = (count, seed, scale) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898 + seed * 78.233) * scale);

/** @param {number[]} shape */
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** Makes the parameters of a network, in the order of training.py. */
class Weights {
  /** @type {any[]} */
  all = [];

  /** @param {number[]} shape */
  of(...shape) {
    const scale = shape.length > 1 ? Math.sqrt(3 / sizeOf(shape.slice(1))) : 0;
    return this.#add(numbers(sizeOf(shape), this.all.length + 1, scale), shape);
  }

  /** @param {number[]} shape */
  ones(...shape) {
    return this.#add(new Float32Array(sizeOf(shape)).fill(1), shape);
  }

  /** @param {Float32Array} data @param {number[]} shape */
  #add(data, shape) {
    this.all.push(np.array(data, { shape, dtype: np.float32 }));
    return this.all.length - 1;
  }
}

/** @param {any} x @param {any} w @param {any} b */
const linear = (x, w, b) => np.matmul(x, np.transpose(w)).add(b);
/** @param {any} b */
const perChannel = (b) => b.reshape([-1, 1, 1]);
/** @param {any} x @param {any} w @param {number} stride @param {number} pad */
const conv = (x, w, stride, pad) =>
  lax.convGeneralDilated(x, w, [stride, stride], [[pad, pad], [pad, pad]]); // prettier-ignore
/** @param {any} x */
const pool = (x) => lax.reduceWindow(x, np.max, [2, 2], [2, 2]);

/**
 * A network: gives its function of parameters and input.
 * @type {Record<string, (weights: Weights) => (p: any[], x: any) => any>}
 */
const NETWORKS = {
  mlp(weights) {
    for (const [i, o] of [[784, 256], [256, 128], [128, 10]]) weights.of(o, i), weights.of(o); // prettier-ignore
    return (p, x) => {
      for (let n = 0; n < 3; n++) x = linear(n ? nn.relu(x) : x, p[2 * n], p[2 * n + 1]);
      return x;
    };
  },

  lenet(weights) {
    for (const shape of [
      [32, 1, 5, 5],
      [64, 32, 5, 5],
      [256, 3136],
      [10, 256],
    ]) {
      weights.of(...shape);
      weights.of(shape[0]);
    }
    return (p, x) => {
      x = pool(nn.relu(conv(x, p[0], 1, 2).add(perChannel(p[1]))));
      x = pool(nn.relu(conv(x, p[2], 1, 2).add(perChannel(p[3]))));
      x = nn.relu(linear(x.reshape([BATCH, 3136]), p[4], p[5]));
      return linear(x, p[6], p[7]);
    };
  },

  resnet(weights) {
    /** @param {number} inner @param {number} outer @param {number} kernel @param {number} stride */
    const unit = (inner, outer, kernel, stride) => {
      const weight = weights.of(outer, inner, kernel, kernel);
      const [scale, shift] = [weights.ones(outer), weights.of(outer)];
      return (/** @type {any[]} */ p, /** @type {any} */ x) => {
        x = conv(x, p[weight], stride, kernel >> 1);
        const centred = x.ref.sub(np.mean(x, [0, 2, 3], { keepdims: true }));
        const variance = np.mean(np.square(centred.ref), [0, 2, 3], { keepdims: true });
        const normal = centred.div(np.sqrt(variance.add(1e-5)));
        return normal.mul(perChannel(p[scale])).add(perChannel(p[shift]));
      };
    };
    const stem = unit(3, 16, 3, 1);
    const blocks = [[16, 16], [16, 32], [32, 64]].map(([inner, outer]) => {
      const stride = inner === outer ? 1 : 2;
      const [first, second] = [unit(inner, outer, 3, stride), unit(outer, outer, 3, 1)];
      return { first, second, short: stride === 2 ? unit(inner, outer, 1, 2) : null };
    }); // prettier-ignore
    const [weight, bias] = [weights.of(10, 64), weights.of(10)];
    return (p, x) => {
      x = nn.relu(stem(p, x));
      for (const { first, second, short } of blocks) {
        const main = second(p, nn.relu(first(p, x.ref)));
        x = nn.relu(main.add(short ? short(p, x) : x));
      }
      return linear(np.mean(x, [2, 3]), p[weight], p[bias]);
    };
  },

  transformer(weights) {
    const [tokens, positions] = [weights.of(VOCABULARY, WIDTH), weights.of(CONTEXT, WIDTH)];
    const norm = () => {
      const [scale, shift] = [weights.ones(WIDTH), weights.of(WIDTH)];
      return (/** @type {any[]} */ p, /** @type {any} */ x) =>
        nn.standardize(x, -1, { epsilon: 1e-5 }).mul(p[scale]).add(p[shift]);
    };
    /** @param {number} inner @param {number} outer */
    const dense = (inner, outer) => {
      const [weight, bias] = [weights.of(outer, inner), weights.of(outer)];
      return (/** @type {any[]} */ p, /** @type {any} */ x) => linear(x, p[weight], p[bias]);
    };
    const layers = Array.from({ length: LAYERS }, () => [
      norm(), dense(WIDTH, 3 * WIDTH), dense(WIDTH, WIDTH),
      norm(), dense(WIDTH, 4 * WIDTH), dense(4 * WIDTH, WIDTH),
    ]); // prettier-ignore
    const [last, head] = [norm(), weights.of(VOCABULARY, WIDTH)];
    return (p, x) => {
      let h = np.take(p[tokens], x, 0).add(p[positions]);
      for (const [first, qkv, project, second, widen, narrow] of layers) {
        const parts = qkv(p, first(p, h.ref));
        const split = parts.reshape([SEQUENCES, CONTEXT, 3, HEADS, WIDTH / HEADS]);
        const [q, k, v] = [0, 1, 2].map((n) => (n < 2 ? split.ref : split).slice([], [], n));
        const seen = nn.dotProductAttention(q, k, v, { isCausal: true });
        h = h.add(project(p, seen.reshape([SEQUENCES, CONTEXT, WIDTH])));
        const wide = nn.gelu(widen(p, second(p, h.ref)), { approximate: true });
        h = h.add(narrow(p, wide));
      }
      return np.matmul(last(p, h), np.transpose(p[head])).reshape([-1, VOCABULARY]);
    };
  },

  // jax-js has no scan: its steps are traced one by one.
  lstm(weights) {
    const [wi, wh] = [weights.of(4 * WIDTH, WIDTH), weights.of(4 * WIDTH, WIDTH)];
    const [bi, bh] = [weights.of(4 * WIDTH), weights.of(4 * WIDTH)];
    const [weight, bias] = [weights.of(10, WIDTH), weights.of(10)];
    return (p, x) => {
      const inputs = np.matmul(x, np.transpose(p[wi])).add(p[bi].add(p[bh]));
      const hidden = np.transpose(p[wh]);
      let [h, c] = [np.zeros([LINES, WIDTH]), np.zeros([LINES, WIDTH])];
      for (let t = 0; t < CONTEXT; t++) {
        const gates = inputs.ref.slice([], t).add(np.matmul(h, hidden.ref));
        const gate = (/** @type {number} */ n) => gates.ref.slice([], [n * WIDTH, (n + 1) * WIDTH]);
        const [input, forget, output] = [0, 1, 3].map((n) => nn.sigmoid(gate(n)));
        c = forget.mul(c).add(input.mul(np.tanh(gate(2))));
        h = output.mul(np.tanh(c.ref));
        gates.dispose();
      }
      for (const used of [c, inputs, hidden]) used.dispose();
      return linear(h, p[weight], p[bias]);
    };
  },
};

/** @type {Record<string, number[]>} */
const SHAPES = {
  mlp: [BATCH, 784],
  lenet: [BATCH, 1, 28, 28],
  resnet: [BATCH, 3, 32, 32],
  lstm: [LINES, CONTEXT, WIDTH],
};

/** The batch of a step. @param {string} network @param {number} number */
function batch(network, number) {
  if (network === "transformer") {
    const count = SEQUENCES * CONTEXT;
    const text = Int32Array.from({ length: count + 1 }, (_, i) => ((i * 7 + number * 13) % 61) * 4);
    return { x: text.slice(0, count), y: text.slice(1), shape: [SEQUENCES, CONTEXT] };
  }
  const shape = SHAPES[network];
  const x = numbers(sizeOf(shape), number + 1000, 1);
  const y = Int32Array.from({ length: shape[0] }, (_, i) => (i * 7 + number) % 10);
  const each = x.length / shape[0];
  for (let i = 0; i < x.length; i++)
    x[i] += Math.fround(y[Math.floor(i / each)] * Math.fround(0.2));
  return { x, y, shape };
}

/** A network that is being trained with Adam. */
class Training {
  #network;
  #step;
  /** @type {any[]} */
  #state;
  #count = 0;

  /** @param {string} network */
  constructor(network) {
    this.#network = network;
    const weights = new Weights();
    const forward = NETWORKS[network](weights);
    const classes = network === "transformer" ? VOCABULARY : 10;
    const zeros = () => weights.all.map((p) => np.zerosLike(p.ref));
    this.#state = [weights.all, zeros(), zeros()];
    const gradient = valueAndGrad(
      (/** @type {any} */ p, /** @type {any} */ x, /** @type {any} */ y) => {
        // Every reader of a parameter consumes a reference of it.
        const scores = forward(p, x);
        const count = sizeOf(scores.shape) / classes;
        return nn
          .logSoftmax(scores)
          .mul(nn.oneHot(y, classes))
          .sum()
          .mul(-1 / count);
      },
    );
    this.#step = jit((/** @type {any} */ [p, m, v], /** @type {any} */ c1, /** @type {any} */ c2,
      /** @type {any} */ x, /** @type {any} */ y) => {
      const [loss, g] = gradient(tree.ref(p), x, y);
      const [nextM, nextV, nextP] = [[], [], []].map(() => /** @type {any[]} */ ([]));
      for (let i = 0; i < p.length; i++) {
        const mi = m[i].mul(0.9).add(g[i].ref.mul(0.1));
        const vi = v[i].mul(0.999).add(np.square(g[i]).mul(0.001));
        nextM.push(mi);
        nextV.push(vi);
        const root = np.sqrt(vi.ref.mul(c2.ref)).add(1e-8);
        nextP.push(p[i].sub(mi.ref.mul(c1.ref).div(root).mul(1e-3)));
      }
      c1.dispose();
      c2.dispose();
      return { loss, state: [nextP, nextM, nextV] };
    }); // prettier-ignore
  }

  /** @param {number} count */
  async steps(count) {
    const [ms, losses] = [[], []].map(() => /** @type {number[]} */ ([]));
    for (let i = 0; i < count; i++) {
      const { x, y, shape } = batch(this.#network, this.#count++);
      const dtype = x instanceof Int32Array ? np.int32 : np.float32;
      const began = performance.now();
      const { loss, state } = this.#step(
        this.#state,
        np.array(1 / (1 - 0.9 ** this.#count)),
        np.array(1 / (1 - 0.999 ** this.#count)),
        np.array(x, { shape, dtype }),
        np.array(y, { shape: [y.length], dtype: np.int32 }),
      );
      this.#state = state;
      await blockUntilReady(state);
      losses.push(await loss.jsAsync());
      ms.push(performance.now() - began);
    }
    return { ms, losses };
  }
}

/** @type {Map<string, Training>} */
const trainings = new Map();

Object.assign(window, {
  /** So many more steps of a network. @param {string} network @param {number} count */
  async steps(network, count) {
    if (!trainings.has(network)) trainings.set(network, new Training(network));
    return await /** @type {Training} */ (trainings.get(network)).steps(count);
  },
});

export {};
