// @ts-check
/** Shows facts about the visitor's model before it runs: from its file, and counted by Python. */

import { follow, show } from "../../i18n/show.js";
import { bytes } from "../../shared/format.js";
import { text } from "../../i18n/text.js";
import { make } from "../../widgets/dom.js";

/**
 * @typedef {import("../../shared/contract.js").ValueInfo} Info
 * @typedef {import("../../shared/contract.js").ModelFile} ModelInfo
 * @typedef {import("../../shared/contract.js").Reason} Reason
 * @typedef {import("../../shared/contract.js").Survey} Survey
 */

/** Limits for what is shown: rows of operators; inputs or outputs. */
const MAX_ROWS = 400;
const MAX_LISTED = 40;

export class OpenFacts {
  #root;
  #unsupported;
  /**
   * The elements that the survey fills, each with a function for its text.
   * @type {[HTMLElement, () => string][]}
   */
  #surveyed = [];
  #device;
  /** @type {Survey | null} */
  #survey = null;
  /** @type {any} */
  #operators;
  /** @type {{unsupported: string[]}} */
  #info = { unsupported: [] };

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} unsupported  lists what is unsupported
   * @param {() => import("../../engine/types.js").Device} device  that computes
   */
  constructor(root, unsupported, device) {
    this.#root = root;
    this.#unsupported = unsupported;
    this.#device = device;
    follow(root, () => this.relabel());
  }

  clear() {
    this.#root.hidden = this.#unsupported.hidden = true;
    this.#survey = null;
    for (const fact of ["file", "parameters", "multiplyAdds"]) delete this.#root.dataset[fact];
    /** @type {HTMLElement} */ (this.#root.querySelector(".said-of")).replaceChildren();
    /** @type {HTMLElement} */ (this.#unsupported.querySelector("ul")).replaceChildren();
  }

  /** @param {ModelInfo} info @param {string} file  its name */
  show(info, file) {
    this.#info = info;
    const opsets = info.opsets.map(([domain, version]) => `${domain} ${version}`).join(", ");
    const survey = (/** @type {(found: Survey) => string} */ words) => () =>
      this.#survey ? words(this.#survey) : text.openSurveying;
    const facts = make("dl", { class: "list" });
    /** @type {[() => string, () => string, string][]} */
    const rows = [
      [() => text.openName, () => info.name || text.openUnnamed, "name"],
      [() => text.openProducer, () => info.producer || text.openUnnamed, "producer"],
      [() => text.openOpsets, () => `${opsets} · IR ${info.ir}`, "opsets"],
      [() => text.openBytes, () => bytes(info.bytes), "bytes"],
      [
        () => text.openParameters,
        survey(({ parameters, weightBytes }) => text.openWeights(parameters, weightBytes)),
        "parameters",
      ],
      [
        () => text.openMultiplyAdds,
        survey(({ multiplyAdds, whole }) => text.openProducts(multiplyAdds, whole)),
        "multiply-adds",
      ],
      [() => text.openTakes, () => listed(info.inputs), "inputs"],
      [() => text.openGives, () => listed(info.outputs), "outputs"],
    ];
    this.#surveyed = [];
    for (const [name, words, fact] of rows) {
      const value = show(make("dd", { "data-fact": fact }), words);
      if (value.textContent === text.openSurveying) this.#surveyed.push([value, words]);
      facts.append(make("div", {}, show(make("dt"), name), value));
    }
    this.#operators = show(
      make("table", { class: "operators", role: "table", "data-testid": "open-operators" }),
      () => text.openOperators,
      "aria-label",
    );
    const inside = /** @type {HTMLElement} */ (this.#root.querySelector(".said-of"));
    const pane = make("div", { class: "pane", role: "region", tabindex: "0" }, this.#operators);
    show(pane, () => text.openOperators, "aria-label");
    inside.replaceChildren(facts, pane);
    if (info.doc || info.properties.length) inside.append(this.#more(info));
    this.#root.dataset.file = file;
    this.#root.hidden = false;
    this.#listUnsupported(info.unsupported, info.left);
  }

  /** @param {Survey} survey */
  count(survey) {
    this.#survey = survey;
    for (const [value, words] of this.#surveyed) show(value, words);
    if (!this.#info.unsupported.length) this.#listUnsupported(survey.unsupported, 0);
    Object.assign(this.#root.dataset, {
      parameters: String(survey.parameters),
      multiplyAdds: String(survey.multiplyAdds ?? ""),
    });
    this.relabel();
  }

  /** Show where operators run, after a change of the language or the device. */
  relabel() {
    if (this.#survey) this.#table(this.#survey);
  }

  /** @param {Survey} survey */
  #table({ uses }) {
    const { device, host, nowhere } = text.openPlaces[this.#device()];
    const placeNames = { device, host, nowhere };
    const names = [text.openOperator, text.openNodes, text.openWhere, text.openWhy];
    const head = make(
      "tr",
      { role: "row" },
      ...names.map((name) => make("th", { role: "columnheader", scope: "col" }, name)),
    );
    const rows = uses.slice(0, MAX_ROWS).map(({ operator, place, count, reason }) =>
      make(
        "tr",
        {
          role: "row",
          "data-operator": operator,
          "data-place": place,
          "data-count": String(count),
        },
        make("td", { role: "cell" }, operator),
        make("td", { role: "cell", class: "number" }, String(count)),
        make("td", { role: "cell" }, placeNames[place]),
        make("td", { role: "cell", class: "why" }, worded(reason)),
      ),
    );
    if (uses.length > MAX_ROWS) {
      const rest = make(
        "td",
        { role: "cell", colspan: "4" },
        text.openAndMore(uses.length - MAX_ROWS),
      );
      rows.push(make("tr", { role: "row" }, rest));
    }
    this.#operators.replaceChildren(
      make("thead", { role: "rowgroup" }, head),
      make("tbody", { role: "rowgroup" }, ...rows),
    );
  }

  /** @param {ModelInfo} info */
  #more({ doc, properties }) {
    const list = make("dl", { class: "list" });
    for (const [name, value] of properties) {
      list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    }
    const summary = show(make("summary"), () => text.openMore);
    return make("details", {}, summary, make("p", { class: "doc" }, doc), list);
  }

  /** @param {string[]} unsupported @param {number} left  how many more there are */
  #listUnsupported(unsupported, left) {
    const list = /** @type {HTMLElement} */ (this.#unsupported.querySelector("ul"));
    list.replaceChildren(...unsupported.map((line) => make("li", {}, line)));
    if (left) list.append(show(make("li"), () => text.openAndMore(left)));
    this.#unsupported.hidden = !unsupported.length;
  }
}

/** @param {Reason | null} reason */
const worded = (reason) => (reason ? text.openReasons[reason.code](...reason.details) : "");

/** @param {Info[]} infos */
function listed(infos) {
  const shown = infos
    .slice(0, MAX_LISTED)
    .map(({ name, shape, type, kind }) => `${name}: ${text.openShape(shape, type, kind)}`);
  if (infos.length > MAX_LISTED) shown.push(text.openAndMore(infos.length - MAX_LISTED));
  return shown.join("\n");
}
