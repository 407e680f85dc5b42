// @ts-check
/** The conversations, each of which the browser keeps under a key of its own. */

import { words } from "../../i18n/messages.js";

/** The key of the only conversation that an earlier version kept. */
const EARLIER = "tallow.talk";

/** So many characters of its first message are a conversation's name. */
const NAME = 60;

/**
 * @typedef {{role: "user" | "assistant", content: string}} Said
 *
 * @typedef {object} Conversation
 * @property {Said[]} messages
 * @property {number} at  when it last changed
 * @property {string | null} stored  what the storage has of it, as far as this tab knows
 */

export class Talks {
  #storage;
  #start;
  #note;
  /** @type {Map<string, Conversation>} */
  #all = new Map();

  /**
   * @param {() => Storage} storage  throws where the browser refuses it
   * @param {string} place  the path of this site, since several may share a storage
   * @param {(note: import("../../i18n/messages.js").Words) => void} note  called with what the
   *   visitor should know
   */
  constructor(storage, place, note) {
    this.#storage = storage;
    this.#start = `${EARLIER} ${place} `;
    this.#note = note;
    let damaged = 0;
    try {
      for (const key of Object.keys(storage()))
        if (key.startsWith(this.#start) && !this.#read(key.slice(this.#start.length))) damaged++;
      if (!this.#takeOver()) damaged++;
    } catch {
      // Storage is refused, which the first message tells.
    }
    if (damaged) note(words("writeDamaged", damaged));
  }

  /** Their ids and names, the newest first. @returns {{id: string, name: string}[]} */
  list() {
    return [...this.#all]
      .sort(([, { at: a }], [, { at: b }]) => b - a)
      .map(([id, { messages }]) => ({ id, name: nameOf(messages) }));
  }

  /** @param {string} id @returns {Said[]}  none for one that is not there */
  messages(id) {
    return this.#all.get(id)?.messages ?? [];
  }

  /**
   * Keep a conversation.
   * @param {string} id  "" for a new one
   * @param {Said[]} messages
   * @returns {string}  its id; another one if another tab has changed what was kept under this one
   */
  save(id, messages) {
    const known = this.#all.get(id);
    if (!known || this.#isOthers(id, known)) {
      if (known) {
        this.#note(words("writeElsewhere"));
        this.reread(id);
      }
      id = Date.now().toString(36) + Math.random().toString(36).slice(2);
    }
    this.#put(id, {
      messages: [...messages],
      at: Date.now(),
      stored: this.#all.get(id)?.stored ?? null,
    });
    return id;
  }

  /** Forget a conversation. @param {string} id @returns {() => void}  takes that back */
  remove(id) {
    const mine = this.#all.get(id);
    if (mine && this.#isOthers(id, mine)) this.reread(id);
    const known = this.#all.get(id) ?? mine;
    this.#all.delete(id);
    try {
      this.#storage().removeItem(this.#start + id);
    } catch {
      // Nothing was kept.
    }
    return () => {
      if (known) this.#put(id, { ...known, stored: null });
    };
  }

  /** The id of a conversation that is kept under this key. @param {string | null} key */
  idOf(key) {
    return key?.startsWith(this.#start) ? key.slice(this.#start.length) : null;
  }

  /** Another tab has changed a conversation: take what it kept. @param {string} id */
  reread(id) {
    if (this.#storage().getItem(this.#start + id) === null) this.#all.delete(id);
    else this.#read(id);
  }

  /** @param {string} id @param {Conversation} known */
  #isOthers(id, { stored }) {
    try {
      return this.#storage().getItem(this.#start + id) !== stored;
    } catch {
      return false;
    }
  }

  /** @param {string} id @param {Conversation} conversation */
  #put(id, { messages, at, stored }) {
    const said = messages.map(({ role, content }) => ({ role, content }));
    const text = JSON.stringify({ at, messages: said });
    this.#all.set(id, { messages, at, stored });
    try {
      this.#storage().setItem(this.#start + id, text);
      this.#all.set(id, { messages, at, stored: text });
    } catch (error) {
      const full = /** @type {DOMException} */ (error).name === "QuotaExceededError";
      this.#note(words(full ? "writeFull" : "writeRefused"));
    }
  }

  /** Read what is kept under an id. @param {string} id @returns {boolean}  false if it is damaged */
  #read(id) {
    const stored = this.#storage().getItem(this.#start + id) ?? "";
    try {
      const { at, messages } = JSON.parse(stored);
      if (!areSaid(messages) || typeof at !== "number") return false;
      this.#all.set(id, { at, messages, stored });
      return true;
    } catch {
      return false;
    }
  }

  /** Take over the conversation of an earlier version. @returns {boolean}  false if it is damaged */
  #takeOver() {
    const kept = this.#storage().getItem(EARLIER);
    if (kept === null) return true;
    let messages;
    try {
      messages = JSON.parse(kept);
    } catch {
      return false;
    }
    if (!areSaid(messages)) return false;
    const id = messages.length ? this.save("", messages) : "";
    if (!id || this.#all.get(id)?.stored) this.#storage().removeItem(EARLIER);
    return true;
  }
}

/** @param {unknown} messages @returns {messages is Said[]} */
const areSaid = (messages) =>
  Array.isArray(messages) &&
  messages.every(
    (each) => ["user", "assistant"].includes(each?.role) && typeof each.content === "string",
  );

/** The beginning of the first message, in one line. @param {Said[]} messages */
function nameOf(messages) {
  const text = messages[0]?.content.trim().replace(/\s+/g, " ") ?? "";
  const characters = [...text];
  return characters.length > NAME ? `${characters.slice(0, NAME).join("")}…` : text;
}
