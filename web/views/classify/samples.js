// @ts-check
/**
 * Sample photographs of this site, with their credits. Thumbnails are fetched when they come into
 * view, a photograph when it is chosen.
 */

import { fetchBytes, fetchJson, withoutHash } from "../../site/fetch.js";
import { follow } from "../../i18n/show.js";
import { text } from "../../i18n/text.js";

/**
 * @typedef {object} Sample  one entry of samples/samples.json
 * @property {string} name
 * @property {string} file
 * @property {string} small  the file of its thumbnail
 * @property {string} author
 * @property {string} licence
 * @property {string} licence_url
 * @property {string} source_url
 */

export class Samples {
  #strip;
  #credits;
  #take;
  /** @type {Sample[]} */
  #samples = [];

  /**
   * @param {HTMLElement} root
   * @param {(files: Promise<File[]>) => void} take  called with the chosen photograph
   */
  constructor(root, take) {
    this.#strip = /** @type {HTMLElement} */ (root.querySelector(".strip"));
    this.#credits = /** @type {HTMLElement} */ (root.querySelector("ul"));
    this.#take = take;
    const seen = new IntersectionObserver(async (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      try {
        this.#samples = await fetchJson("samples/samples.json");
        this.#draw();
        follow(root, () => this.#draw());
      } catch {
        root.hidden = true; // everything else works without samples
      }
    });
    seen.observe(root);
  }

  #draw() {
    this.#strip.replaceChildren(...this.#samples.map((sample) => this.#button(sample)));
    this.#credits.replaceChildren(...this.#samples.map(credit));
  }

  /** @param {Sample} sample */
  #button({ name, file, small }) {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.dataset.testid = "image-sample";
    button.dataset.name = name;
    const picture = Object.assign(document.createElement("img"), {
      alt: "",
      loading: "lazy",
      decoding: "async",
      draggable: false, // dropping it would classify the thumbnail
      src: `samples/${small}`,
    });
    const words = document.createElement("span");
    words.textContent = titleOf(name);
    button.append(picture, words);
    button.addEventListener("click", () => this.#take(fetchPhoto(file)));
    return button;
  }
}

/** @param {string} name */
const titleOf = (name) => /** @type {Record<string, string>} */ (text.samples)[name] ?? name;

/** @param {string} file @returns {Promise<File[]>} */
async function fetchPhoto(file) {
  return [new File([await fetchBytes(`samples/${file}`)], withoutHash(file))];
}

/** @param {Sample} sample */
function credit({ name, author, licence, licence_url, source_url }) {
  const item = document.createElement("li");
  item.append(
    link(titleOf(name), source_url),
    text.creditBy(author),
    link(licence === "public domain" ? text.publicDomain : licence, licence_url),
  );
  return item;
}

/** @param {string} words @param {string} href */
function link(words, href) {
  const made = Object.assign(document.createElement("a"), { href, rel: "noreferrer" });
  made.textContent = words;
  return made;
}
