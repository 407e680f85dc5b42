// @ts-check
/** File inputs of the view: the browser's own control would speak another language. */

import { show } from "../../../i18n/show.js";
import { make } from "../../../widgets/dom.js";

/**
 * A file input within its label, which looks like a button.
 * @param {HTMLInputElement} input
 * @param {import("../../../i18n/messages.js").Words} said
 * @param {(files: File[]) => void} take  called with what is chosen
 */
export function chooser(input, said, take) {
  input.addEventListener("change", () => {
    take([...(input.files ?? [])]);
    input.value = "";
  });
  return make("label", { class: "button" }, show(make("span"), said), input);
}
