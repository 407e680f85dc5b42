// @ts-check
/** Text on the page (web/i18n/show.js): shown once, and said again in each language that is chosen. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { choose } from "../../web/i18n/languages.js";
import { words } from "../../web/i18n/messages.js";
import { follow, show } from "../../web/i18n/show.js";
import { text } from "../../web/i18n/text.js";

beforeEach(() => choose("en"));

/** As much of an element as show() uses. @returns {any} */
function element() {
  /** @type {Record<string, string>} */
  const attributes = {};
  let said = "";
  return {
    attributes,
    writes: 0,
    get textContent() {
      return said;
    },
    set textContent(words) {
      this.writes += 1;
      said = words;
    },
    setAttribute: (/** @type {string} */ name, /** @type {string} */ value) =>
      (attributes[name] = value),
  };
}

test("words are shown, and again in another language", () => {
  const place = element();
  assert.equal(show(place, words("tryAgain")), place);
  assert.equal(place.textContent, "Try again");
  choose("zh");
  assert.equal(place.textContent, "重试");
});

test("what is shown last counts, for each part of its own", () => {
  const place = element();
  let count = 1;
  show(place, words("tryAgain"));
  show(place, () => text.galleryCount(count, 3));
  show(place, words("cancel"), "aria-label");
  count = 2;
  choose("zh");
  assert.equal(place.textContent, text.galleryCount(2, 3));
  assert.equal(place.attributes["aria-label"], text.cancel);
  show(place, "");
  choose("en");
  assert.equal(place.textContent, "");
});

test("what is there already is not written a second time", () => {
  const place = element();
  place.textContent = "\n  Try\n  again ";
  place.writes = 0;
  show(place, words("tryAgain"));
  assert.equal(place.writes, 0);
});

test("what is more than words is drawn again", () => {
  const place = element();
  let drawn = 0;
  follow(place, () => (drawn += 1));
  assert.equal(drawn, 0);
  choose("zh");
  choose("en");
  assert.equal(drawn, 2);
});
