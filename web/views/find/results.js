// @ts-check
/** The passages that were found. */

import { words } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { time } from "../../shared/format.js";
import { CopyButton } from "../../widgets/copy_button.js";

/** @typedef {import("../../shared/contract.js").FoundPassage} FoundPassage */

export class Results {
  #list;
  #line;

  /**
   * @param {HTMLOListElement} list
   * @param {HTMLElement} line  says what was found
   */
  constructor(list, line) {
    this.#list = list;
    this.#line = line;
  }

  clear() {
    this.#list.replaceChildren();
    this.#list.removeAttribute("aria-busy");
    show(this.#line, "");
  }

  /** A search begins; what the last one found stays until then. */
  begin() {
    this.#list.setAttribute("aria-busy", "true");
    show(this.#line, words("findLooking"));
  }

  /**
   * @param {string} question
   * @param {import("../../shared/contract.js").Looked} looked
   * @param {boolean} done  whether the nearest sentences are known
   */
  show(question, { found, seconds }, done) {
    this.#list.dataset.question = question;
    this.#list.setAttribute("aria-busy", String(!done));
    this.#list.replaceChildren(...found.map(item));
    const said = words("findFound", question, found.length, time(seconds * 1000));
    show(this.#line, found.length ? said : words("findNothing"));
  }
}

/** @param {FoundPassage} passage */
function item({ source, page, score, parts }) {
  const made = document.createElement("li");
  made.dataset.score = String(score);
  made.dataset.source = source;
  if (page !== null) made.dataset.page = String(page);
  const head = document.createElement("header");
  head.append(Object.assign(document.createElement("b"), { textContent: source }));
  if (page !== null) head.append(show(document.createElement("span"), words("findPage", page)));
  const share = Object.assign(document.createElement("span"), {
    className: "score",
    textContent: score.toFixed(3),
  });
  head.append(share);
  const passage = document.createElement("p");
  const [before, nearest, after] = parts;
  passage.append(before);
  if (nearest)
    passage.append(Object.assign(document.createElement("mark"), { textContent: nearest }));
  passage.append(after);
  const button = Object.assign(document.createElement("button"), { type: "button" });
  new CopyButton(
    button,
    "copy",
    () => parts.join(""),
    (_, copied) => copied || getSelection()?.selectAllChildren(passage),
  );
  made.append(head, passage, button);
  return made;
}
