// @ts-check
/**
 * What the parts of the view share: settings, the data, the run. It tells of changes by events:
 * "settings", "data", "state", "layers" (whether they are possible), and, while it learns, "begun", "look", "sample" and "record", with the report
 * of Python's (shared/contract.d.ts) as their detail.
 */

/** @typedef {import("../../engine/engine.js").Engine} Engine */
/** @typedef {import("../../shared/contract.js").TrainRun} TrainRun */
/** @typedef {(signal: AbortSignal) => Promise<Record<string, any>>} Prepare */
/** @typedef {"idle" | "running" | "paused" | "done" | "failed"} State */

/**
 * @typedef {object} Settings  as py/tallow_page/train/learning.py takes them
 * @property {{name: string, count: number | null, changes?: import("../../shared/contract.js").TrainChange[]}} data
 *   count: how many to learn from; null: all. changes: the visitor's, of labels
 * @property {Record<string, any>[]} layers
 * @property {{name: string, lr: number, momentum: number, nesterov: boolean, weight_decay: number}} optimizer
 * @property {"onecycle" | "cosine" | "constant"} schedule
 * @property {number} batch
 * @property {number} epochs
 * @property {string[]} augment
 * @property {number} seed
 */

/** LeNet-5 (LeCun et al. 1998), as tl.zoo.LeNet5(padding=2). @type {Record<string, any>[]} */
export const LENET = [
  { kind: "conv2d", out: 6, kernel: 5, padding: 2 },
  { kind: "tanh" },
  { kind: "avgpool2d", size: 2 },
  { kind: "conv2d", out: 16, kernel: 5 },
  { kind: "tanh" },
  { kind: "avgpool2d", size: 2 },
  { kind: "flatten" },
  { kind: "linear", out: 120 },
  { kind: "tanh" },
  { kind: "linear", out: 84 },
  { kind: "tanh" },
  { kind: "linear", out: 10 },
];

/** One epoch of MNIST: bench/in_browser/epoch.py has the same recipe. @type {Settings} */
export const USUAL = {
  data: { name: "mnist", count: null },
  layers: LENET,
  optimizer: { name: "sgd", lr: 0.15, momentum: 0.9, nesterov: true, weight_decay: 0 },
  schedule: "onecycle",
  batch: 64,
  epochs: 1,
  augment: [],
  seed: 0,
};

/**
 * MNIST's pictures, and those of Fashion-MNIST.
 * @type {{kind: string, shape: number[], classes: number}}  shape: of one example
 */
export const DIGITS = { kind: "pictures", shape: [1, 28, 28], classes: 10 };

export class Training extends EventTarget {
  /** @type {Settings} */
  settings = structuredClone(USUAL);
  /** What a network has to fit. */
  facts = DIGITS;
  /** Where the data are, as Python's opened_data takes it; null: nothing is chosen. @type {Record<string, any> | null} */
  source = null;
  /** Has the worker read the visitor's own data before a run; gives their source. @type {Prepare | null} */
  prepare = null;
  /** The run that is shown: the name of its folder; null: a new one. @type {string | null} */
  run = null;
  /** @type {State} */
  state = "idle";

  /** @param {Engine} engine */
  constructor(engine) {
    super();
    this.engine = engine;
  }

  /** Whether it learns. */
  get busy() {
    return this.state === "running";
  }

  /** Change some settings: what has learnt by now is another run. @param {Partial<Settings>} some */
  change(some) {
    Object.assign(this.settings, some);
    this.run = null;
    this.tell("settings");
  }

  /**
   * Learn from other data.
   * @param {Record<string, any>} source
   * @param {string} name
   * @param {Prepare | null} [prepare]
   */
  learnFrom(source, name, prepare = null) {
    this.source = source;
    this.prepare = prepare;
    this.settings.data = { ...this.settings.data, name };
    this.run = null;
    this.tell("data");
  }

  /** @param {State} state */
  become(state) {
    this.state = state;
    this.tell("state");
  }

  /** @param {string} event @param {object} [detail] */
  tell(event, detail) {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }

  /**
   * @param {string} event
   * @param {(detail: any) => void} react
   */
  on(event, react) {
    this.addEventListener(event, (/** @type {any} */ { detail }) => react(detail));
  }
}
