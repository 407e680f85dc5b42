// @ts-check
/** A pad on which the visitor draws signs of the chosen class. */

import { words } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { prepareDigit } from "../../../prepare/digit.js";
import { make } from "../../../widgets/dom.js";
import { PadKeys } from "../../../widgets/pad/keys.js";
import { Pad } from "../../../widgets/pad/pad.js";

export class Signs {
  #pad;
  #title = make("p", { class: "for" });
  #keep = make("button", { type: "button", "data-testid": "train-sign-keep" });
  #undo = make("button", { type: "button", "data-testid": "train-sign-undo" });
  #clear = make("button", { type: "button", "data-testid": "train-sign-clear" });
  #take;

  /**
   * @param {HTMLElement} root  empty; gets the pad
   * @param {(sign: Uint8Array<ArrayBuffer>) => void} take  called with 28 * 28 bytes, 0 for paper
   */
  constructor(root, take) {
    this.#take = take;
    const canvas = make("canvas", {
      "data-testid": "train-pad",
      role: "application",
      tabindex: "0",
      "aria-describedby": "train-pad-keys",
    });
    const cursor = make("span", { class: "cursor", "aria-hidden": "true", hidden: "" });
    const pen = make("p", { class: "said", role: "status" });
    const how = make("p", { class: "info", id: "train-pad-keys" });
    const frame = make("div", { class: "frame pad" }, canvas, cursor);
    const acts = make("div", { class: "acts" }, this.#keep, this.#undo, this.#clear);
    root.append(this.#title, frame, how, pen, acts);
    show(canvas, words("trainOwnPad"), "aria-label");
    show(how, words("trainOwnPadKeys"));
    show(this.#keep, words("trainOwnKeep"));
    show(this.#undo, words("trainOwnUndo"));
    show(this.#clear, words("trainOwnClear"));
    this.#pad = new Pad(canvas, () => this.#render());
    new PadKeys(canvas, cursor, pen, this.#pad);
    this.#keep.addEventListener("click", () => this.#put());
    this.#undo.addEventListener("click", () => this.#pad.change("undo"));
    this.#clear.addEventListener("click", () => this.#pad.change("clear"));
    this.#render();
  }

  /** @param {string} name  of the class that is drawn */
  use(name) {
    show(this.#title, words("trainOwnDraw", name));
  }

  #put() {
    const { ink, width, height } = this.#pad.ink.read();
    const picture = prepareDigit(ink, width, height);
    if (!picture) return;
    this.#pad.change("clear");
    this.#take(Uint8Array.from(picture, (value) => Math.round(255 * value)));
  }

  #render() {
    this.#keep.disabled = this.#clear.disabled = this.#pad.ink.empty;
    this.#undo.disabled = !this.#pad.ink.undoable;
  }
}
