// @ts-check
/**
 * A visitor's changes to labels, in order, which the browser keeps for each data set. The runs that
 * begin afterwards learn from the data with them (py/tallow_page/train/review.py, `applied`).
 */

/** @typedef {import("../../../shared/contract.js").TrainChange} Change */

/** @param {any} each @returns {each is Change} */
const isChange = (each) =>
  Number.isInteger(each?.number) && (each.label === null || typeof each.label === "string");

export class Changes {
  #storage;
  #start;
  #key = "";
  /** @type {Change[]} */
  #made = [];

  /**
   * @param {() => Storage} storage  throws where the browser refuses it
   * @param {string} place  the path of this site, since several may share a storage
   */
  constructor(storage, place) {
    this.#storage = storage;
    this.#start = `tallow.train.changes ${place} `;
  }

  /** All of them, the latest last. @returns {readonly Change[]} */
  get all() {
    return this.#made;
  }

  /** Take those of a data set. @param {string} data @returns {boolean}  false if they are damaged */
  open(data) {
    this.#key = this.#start + data;
    this.#made = [];
    try {
      const found = JSON.parse(this.#storage().getItem(this.#key) ?? "[]");
      if (!Array.isArray(found) || !found.every(isChange)) return false;
      this.#made = found;
      return true;
    } catch (error) {
      return !(error instanceof SyntaxError); // storage may be refused, and has nothing then
    }
  }

  /** @param {Change} change @returns {boolean}  whether the browser has kept it */
  add(change) {
    this.#made.push(change);
    return this.#keep();
  }

  /** Take the latest back. @returns {boolean}  whether the browser has noted that */
  undo() {
    this.#made.pop();
    return this.#keep();
  }

  #keep() {
    try {
      const storage = this.#storage();
      if (this.#made.length) storage.setItem(this.#key, JSON.stringify(this.#made));
      else storage.removeItem(this.#key);
      return true;
    } catch {
      return false;
    }
  }
}
