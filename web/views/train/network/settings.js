// @ts-check
/** The fields that say how a network learns. */

import { show } from "../../../i18n/show.js";
import { words } from "../../../i18n/messages.js";

/** @typedef {import("../training.js").Training} Training */
/** @typedef {import("../training.js").Settings} Settings */

/**
 * @typedef {object} Field
 * @property {string} hook
 * @property {string} text
 * @property {{min: number, max: number, step: string, empty?: boolean}} [number]  empty: null counts
 * @property {[string, string][]} [options]  values and their texts
 * @property {(settings: Settings) => any} get
 * @property {(settings: Settings, value: any) => void} set
 * @property {(settings: Settings) => boolean} [counts]  whether it does anything; always, if left out
 */

/** @type {Field[]} */
const FIELDS = [
  {
    hook: "count",
    text: "trainCount",
    number: { min: 1, max: 1e7, step: "1", empty: true },
    get: ({ data }) => data.count,
    set: ({ data }, value) => (data.count = value),
  },
  whole("epochs", "trainEpochs", "epochs", 1000),
  whole("batch", "trainBatch", "batch", 4096),
  {
    hook: "optimizer",
    text: "trainOptimizer",
    options: [
      ["sgd", "SGD"],
      ["adam", "Adam"],
      ["adamw", "AdamW"],
    ],
    get: ({ optimizer }) => optimizer.name,
    set: ({ optimizer }, value) => (optimizer.name = value),
  },
  ofOptimizer("lr-field", "trainRateField", "lr", 1000),
  {
    ...ofOptimizer("momentum", "trainMomentum", "momentum", 0.999),
    counts: ({ optimizer }) => optimizer.name === "sgd",
  },
  ofOptimizer("decay", "trainDecay", "weight_decay", 1),
  {
    hook: "schedule",
    text: "trainSchedule",
    options: [
      ["onecycle", "trainOnecycle"],
      ["cosine", "trainCosine"],
      ["constant", "trainConstant"],
    ],
    get: ({ schedule }) => schedule,
    set: (settings, value) => (settings.schedule = value),
  },
  whole("seed", "trainSeed", "seed", 2 ** 31, 0),
];

/** @type {[string, string][]} */
const CHANGES = [
  ["mirror", "trainMirror"],
  ["shift", "trainShift"],
  ["rotate", "trainRotate"],
];

/**
 * @param {string} hook @param {string} text @param {"batch" | "epochs" | "seed"} name
 * @param {number} max @param {number} [min]
 * @returns {Field}
 */
function whole(hook, text, name, max, min = 1) {
  const set = (/** @type {Settings} */ settings, /** @type {any} */ value) => {
    settings[name] = value;
  };
  return { hook, text, number: { min, max, step: "1" }, get: (settings) => settings[name], set };
}

/**
 * @param {string} hook @param {string} text @param {"lr" | "momentum" | "weight_decay"} name
 * @param {number} max
 * @returns {Field}
 */
function ofOptimizer(hook, text, name, max) {
  const set = (/** @type {Settings} */ { optimizer }, /** @type {any} */ value) => {
    optimizer[name] = value;
  };
  const number = { min: 0, max, step: "any" };
  return { hook, text, number, get: ({ optimizer }) => optimizer[name], set };
}

export class Fields {
  #training;
  /** @type {[Field, any][]} */
  #inputs;
  /** @type {[string, HTMLInputElement][]} */
  #changes;

  /** @param {HTMLElement} root @param {Training} training */
  constructor(root, training) {
    this.#training = training;
    this.#inputs = FIELDS.map((field) => [field, input(field)]);
    this.#changes = CHANGES.map(([name]) => [name, checkbox(name)]);
    const rows = this.#inputs.map(([{ text }, field]) => row(text, field));
    const checks = this.#changes.map(([, field], at) => row(CHANGES[at][1], field, "check"));
    root.replaceChildren(...rows, ...checks);
    root.addEventListener("change", () => this.#take());
    for (const event of ["settings", "data", "state"]) training.on(event, () => this.#render());
    this.#render();
  }

  /** Whether all fields have values that count; else the visitor sees which one has not. */
  checked() {
    const [, wrong] = this.#inputs.find(([, field]) => !field.checkValidity()) ?? [];
    if (wrong) wrong.closest("details").open = true;
    return !wrong || wrong.reportValidity();
  }

  #take() {
    const settings = structuredClone(this.#training.settings);
    for (const [{ number, set }, field] of this.#inputs) {
      if (!field.checkValidity()) {
        field.reportValidity();
        return;
      }
      const { value } = field;
      set(settings, number ? (value === "" ? null : Number(value)) : value);
    }
    settings.augment = this.#changes.filter(([, { checked }]) => checked).map(([name]) => name);
    this.#training.change(settings);
  }

  #render() {
    const { settings, facts, busy } = this.#training;
    for (const [{ get, counts }, field] of this.#inputs) {
      field.value = get(settings) ?? "";
      field.disabled = busy;
      field.closest("label").hidden = !(counts?.(settings) ?? true);
    }
    for (const [name, field] of this.#changes) {
      field.checked = settings.augment.includes(name);
      field.disabled = busy;
      const label = /** @type {HTMLElement} */ (field.closest("label"));
      label.hidden = facts.kind !== "pictures";
    }
  }
}

/** @param {Field} field */
function input({ hook, number, options }) {
  const made = document.createElement(options ? "select" : "input");
  made.dataset.testid = `train-${hook}`;
  if (made instanceof HTMLSelectElement) {
    for (const [value, text] of options ?? []) {
      const option = new Option(text, value);
      made.append(
        text.startsWith("train") ? show(option, words(/** @type {any} */ (text))) : option,
      );
    }
  } else if (number) {
    const { min, max, step, empty } = number;
    Object.assign(made, { type: "number", min, max, step, required: !empty });
  }
  return made;
}

/** @param {string} name */
function checkbox(name) {
  const made = Object.assign(document.createElement("input"), { type: "checkbox" });
  made.dataset.testid = `train-${name}`;
  return made;
}

/** @param {string} text @param {HTMLElement} field @param {string} [kind] */
function row(text, field, kind = "") {
  const label = document.createElement("label");
  label.className = kind;
  const name = show(document.createElement("span"), words(/** @type {any} */ (text)));
  label.append(...(kind ? [field, name] : [name, field]));
  return label;
}
