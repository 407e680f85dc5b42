// @ts-check
/**
 * Files that the visitor may save. Nothing tells a page when the browser has read one, so each keeps
 * its address for as long as what it was made of is shown.
 */

import { make } from "./dom.js";

export class SavedFiles {
  /** By the name of the file. @type {Map<string, string>} */
  #addresses = new Map();

  /**
   * @param {string} name
   * @param {() => Blob} content  is called once, until these files are forgotten
   */
  save(name, content) {
    const address = this.#addresses.get(name) ?? URL.createObjectURL(content());
    this.#addresses.set(name, address);
    make("a", { href: address, download: name }).click();
  }

  /** What they were made of is not shown any more. */
  forget() {
    for (const address of this.#addresses.values()) URL.revokeObjectURL(address);
    this.#addresses.clear();
  }
}
