// @ts-check
/** Texts, sentences and speech of transformers.js and wllama; bench/text.py calls what this puts into
 * the window. Both are given their files by this server, and keep none. */

const address = new URLSearchParams(location.search);
const threads = Number(address.get("threads") ?? 1);
const device = address.get("device") ?? "wasm";

/** What is loaded. @type {any} */
let model;

/** transformers.js, with the files of onnxruntime-web beside it. */
async function transformers() {
  // @ts-ignore: served by bench/text.py
  const library = await import("/peers/transformers/package/dist/transformers.min.js");
  const { env } = library;
  Object.assign(env, {
    allowRemoteModels: false,
    allowLocalModels: true,
    localModelPath: "/text/",
  });
  Object.assign(env, { useBrowserCache: false, useWasmCache: false });
  const base = "/peers/onnxruntime/package/dist/ort-wasm-simd-threaded.asyncify";
  env.backends.onnx.wasm.wasmPaths = {
    mjs: new URL(`${base}.mjs`, location.href).href,
    wasm: new URL(`${base}.wasm`, location.href).href,
  };
  env.backends.onnx.wasm.numThreads = threads;
  return library;
}

/** A language model of transformers.js. @param {string} name @param {string} dtype */
async function language(name, dtype) {
  const { AutoModelForCausalLM, AutoTokenizer, BaseStreamer } = await transformers();
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const network = await AutoModelForCausalLM.from_pretrained(name, { device, dtype });
  class Clock extends BaseStreamer {
    /** @type {number[]} */
    times = [];
    put() {
      this.times.push(performance.now());
    }
    end() {}
  }
  /** @param {any} inputs @param {number} count @param {number} least */
  const generate = async (inputs, count, least) => {
    const streamer = new Clock();
    const began = performance.now();
    const limits = { max_new_tokens: count, min_new_tokens: least, do_sample: false };
    const all = await network.generate({ ...inputs, ...limits, streamer });
    const [, ...times] = streamer.times; // the first call brings the prompt
    return { all, times: times.map((time) => time - began) };
  };
  model = {
    /** @param {string} text @param {number} count */
    async write(text, count) {
      const inputs = tokenizer(text, { add_special_tokens: false });
      const { times } = await generate(inputs, count, count);
      const last = times[times.length - 1];
      return { prefill_ms: times[0], decode_ms: last - times[0], tokens: times.length - 1,
        prompt: inputs.input_ids.dims[1] }; // prettier-ignore
    },
    /** @param {string} question */
    async answer(question) {
      const inputs = tokenizer(question, { add_special_tokens: false });
      const { all } = await generate(inputs, 12, 0);
      const ids = all.tolist()[0].slice(inputs.input_ids.dims[1]);
      return tokenizer.decode(ids, { skip_special_tokens: true }).trim();
    },
  };
}

/** A GGUF file in wllama. @param {string} file */
async function llama(file) {
  // @ts-ignore: served by bench/text.py
  const { Wllama } = await import("/peers/wllama/package/esm/index.js");
  const wllama = new Wllama({ default: "/peers/wllama/package/esm/wasm/wllama.wasm" });
  const content = await (await fetch(file)).blob();
  await wllama.loadModel([content], {
    n_ctx: 512, n_parallel: 1, n_threads: threads, n_gpu_layers: device === "webgpu" ? 999 : 0,
  }); // prettier-ignore
  /** @param {string} prompt @param {number} count @param {boolean} all */
  const complete = async (prompt, count, all) => {
    /** @type {number[]} */
    const times = [];
    let [text, read] = ["", 0];
    const began = performance.now();
    await wllama.createCompletion({
      prompt, max_tokens: count, temperature: 0, top_k: 1, cache_prompt: false, ignore_eos: all,
      stream: true, timings_per_token: true,
      onData: (/** @type {any} */ piece) => {
        read = piece.timings?.prompt_n ?? read;
        if (piece.choices[0]?.finish_reason != null) return;
        text += piece.choices[0]?.text ?? "";
        times.push(performance.now() - began);
      },
    }); // prettier-ignore
    return { text, times, read };
  };
  model = {
    /** @param {string} text @param {number} count */
    async write(text, count) {
      const { times, read } = await complete(text, count, true);
      const last = times[times.length - 1];
      return { prefill_ms: times[0], decode_ms: last - times[0], tokens: count - 1, prompt: read };
    },
    /** @param {string} question */
    answer: async (question) => (await complete(question, 12, false)).text.trim(),
  };
}

/** An encoder of sentences. @param {string} name @param {string} dtype */
async function sentences(name, dtype) {
  const { pipeline } = await transformers();
  const embed = await pipeline("feature-extraction", name, { device, dtype });
  /** @param {string[]} texts */
  const vectors = async (texts) =>
    (await embed(texts, { pooling: "mean", normalize: true })).tolist();
  model = {
    /** @param {string[]} texts @param {number} atOnce @param {number} calls */
    async embed(texts, atOnce, calls) {
      const ms = [];
      for (let turn = 0; turn < calls; turn++) {
        const begin = (turn * atOnce) % texts.length;
        const began = performance.now();
        await vectors(texts.slice(begin, begin + atOnce));
        ms.push(performance.now() - began);
      }
      return { ms };
    },
    /** @param {string[]} texts */
    async cosine(texts) {
      /** @type {number[][]} */
      const [a, b] = await vectors(texts);
      return a.reduce((sum, x, i) => sum + x * b[i], 0);
    },
  };
}

/** Speech to text. @param {string} name @param {string} dtype @param {string} sound */
async function speech(name, dtype, sound) {
  const { pipeline } = await transformers();
  const recognise = await pipeline("automatic-speech-recognition", name, { device, dtype });
  const samples = new Float32Array(await (await fetch(sound)).arrayBuffer());
  model = {
    async hear() {
      const began = performance.now();
      const { text } = await recognise(samples, { language: "en", task: "transcribe" });
      return { ms: performance.now() - began, text: text.trim() };
    },
  };
}

/** @type {Record<string, (...given: any[]) => Promise<void>>} */
const KINDS = { language, llama, sentences, speech };

Object.assign(window, {
  /** Loads a model; gives milliseconds. @param {string} kind @param {string[]} given */
  async load(kind, ...given) {
    const began = performance.now();
    await KINDS[kind](...given);
    return performance.now() - began;
  },

  /** Calls what is loaded. @param {string} method @param {any[]} given */
  ask: (method, ...given) => model[method](...given),
});

export {};
