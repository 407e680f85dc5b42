// @ts-check
/** Texts in elements (web/i18n/show.js), which are translated when the language changes. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { choose } from "../../web/i18n/languages.js";
import { words } from "../../web/i18n/messages.js";
import { follow, show } from "../../web/i18n/show.js";
import { text } from "../../web/i18n/text.js";

beforeEach(() => choose("en"));

/** A fake element, as far as show() uses one. @returns {any} */
function element() {
  /** @type {Record<string, string>} */
  const attributes = {};
  let content = "";
  return {
    attributes,
    writes: 0,
    get textContent() {
      return content;
    },
    set textContent(words) {
      this.writes += 1;
      content = words;
    },
    setAttribute: (/** @type {string} */ name, /** @type {string} */ value) =>
      (attributes[name] = value),
  };
}

test("a text is shown, and translated", () => {
  const target = element();
  assert.equal(show(target, words("tryAgain")), target);
  assert.equal(target.textContent, "Try again");
  choose("zh");
  assert.equal(target.textContent, "重试");
});

test("the last text of each part counts", () => {
  const target = element();
  let count = 1;
  show(target, words("tryAgain"));
  show(target, () => text.ready(count));
  show(target, words("cancel"), "aria-label");
  count = 2;
  choose("zh");
  assert.equal(target.textContent, text.ready(2));
  assert.equal(target.attributes["aria-label"], text.cancel);
  show(target, "");
  choose("en");
  assert.equal(target.textContent, "");
});

test("an unchanged text is not written again", () => {
  const target = element();
  target.textContent = "\n  Try\n  again ";
  target.writes = 0;
  show(target, words("tryAgain"));
  assert.equal(target.writes, 0);
});

test("follow() draws again in another language", () => {
  const target = element();
  let drawn = 0;
  follow(target, () => (drawn += 1));
  assert.equal(drawn, 0);
  choose("zh");
  choose("en");
  assert.equal(drawn, 2);
});
