// @ts-check
/**
 * Files that the visitor may save. A page can't know when the browser has read a file, so each
 * keeps its object URL for as long as its content is shown.
 */

import { make } from "./dom.js";

export class SavedFiles {
  /** By file name. @type {Map<string, string>} */
  #addresses = new Map();

  /**
   * @param {string} name
   * @param {() => Blob} content  called once, until forget()
   */
  save(name, content) {
    const address = this.#addresses.get(name) ?? URL.createObjectURL(content());
    this.#addresses.set(name, address);
    make("a", { href: address, download: name }).click();
  }

  /** Their content is no longer shown. */
  forget() {
    for (const address of this.#addresses.values()) URL.revokeObjectURL(address);
    this.#addresses.clear();
  }
}
