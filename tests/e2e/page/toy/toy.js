// @ts-nocheck: it is a folder of web/views/ for the test beside it
/** A view that asks its side of the worker, which asks its Python. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";

export default class Toy {
  untouched = true;

  /** @param {HTMLElement} root @param {import("../view.js").Page} page */
  constructor(root, { engine }) {
    const [input, button, line] = root.querySelectorAll("input, button, p");
    button.addEventListener("click", async () => {
      try {
        const { twice } = await engine.ask("toy.double", { number: Number(input.value) });
        show(line, words("toyTwice", twice));
      } catch (error) {
        show(line, wordsOf(error));
      }
    });
  }

  async model() {
    return null;
  }

  answer() {}
}
