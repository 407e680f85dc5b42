// @ts-check
/**
 * Shows whether the page works offline. Its service worker, made with Workbox by the build, caches
 * all files. A new version is offered and waits until the visitor takes it. A button installs the
 * page as an app, if the browser offers that.
 */

import { Workbox } from "workbox-window";

import { controller, registration } from "../../site/registered.js";
import { LocalizedError, words, wordsOf } from "../../i18n/messages.js";
import { Message } from "../message.js";

/** @typedef {"unsaid" | "keeping" | "kept" | "newer" | "refused"} State */

const WORKER = new URL("../../service-worker.js", import.meta.url);

export class Offline {
  #root;
  #message;
  /** @type {State} */
  #state = "unsaid";
  #begun = false;
  #wanted = false;
  /** @type {Workbox | null} */
  #worker = null;
  /** The service worker that the page was loaded from. */
  #controller = controller();

  /**
   * @param {HTMLElement} root
   * @param {HTMLButtonElement} install
   */
  constructor(root, install) {
    this.#root = root;
    this.#message = new Message(root);
    offerInstall(install);
  }

  /** Show what will happen, so that nothing on the page moves when it has. */
  announce() {
    const { serviceWorker } = navigator;
    if (!serviceWorker) void this.begin();
    else if (!this.#begun) this.#show(controller() ? "kept" : "keeping");
  }

  /** Cache the page's files, including NumPy. Called once nothing else needs the network. */
  async begin() {
    if (this.#begun) return;
    this.#begun = true;
    try {
      await this.#register();
    } catch (error) {
      this.#refused(error);
    }
  }

  /** Offer a newer version, because files of this one are missing. */
  offer() {
    this.#begun = true; // caching this version is pointless now
    this.#show("newer");
  }

  async #register() {
    if (!("serviceWorker" in navigator)) throw new LocalizedError(words("noServiceWorker"));
    const worker = new Workbox(WORKER.href, { updateViaCache: "none" });
    this.#worker = worker;
    // Workbox's own isUpdate is true also for a service worker of a parent folder.
    const isUpdate = controller() !== null;
    worker.addEventListener("waiting", () => this.#show("newer"));
    worker.addEventListener("activated", () => {
      if (!isUpdate) this.#show("kept");
    });
    worker.addEventListener("redundant", () => {
      // If a new version can't be installed, the old one still works.
      if (this.#state === "keeping") this.#refused(new LocalizedError(words("keepingFailed")));
    });
    worker.addEventListener("controlling", () => {
      if (this.#wanted) location.reload();
      else if (isUpdate) this.#show("newer"); // another tab activated it
    });
    const registered = await registerBy(worker);
    // Another tab may have activated a new version before this one listened.
    const before = this.#controller;
    const newer = before && before !== controller();
    const offered = newer || registered.waiting;
    this.#show(offered ? "newer" : registered.active ? "kept" : "keeping");
    // A page that stays open for days checks for a new version when it becomes visible again.
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") worker.update().catch(() => {});
    });
  }

  /** @param {"keeping" | "kept" | "newer"} state */
  #show(state) {
    this.#enter(state);
    if (state === "newer") {
      this.#message.show(words("newer"), () => this.#renew(), words("reload"));
    } else {
      this.#message.show(words(state));
    }
  }

  /** @param {unknown} error */
  #refused(error) {
    this.#enter("refused");
    this.#message.show(words("notKept", wordsOf(error)));
  }

  /** @param {State} state */
  #enter(state) {
    this.#state = state;
    this.#root.dataset.state = state;
  }

  /** Activate the new version for all tabs, and reload this one. */
  async #renew() {
    this.#wanted = true;
    const registered = await registration();
    if (registered?.waiting) {
      if (this.#worker) return this.#worker.messageSkipWaiting();
      // Before begin(), this page has no listener for the activation.
      await registered.unregister();
    }
    location.reload();
  }
}

/**
 * Register the service worker. Browsers that refuse do so in different ways: they reject, or
 * resolve with nothing, which Workbox does not expect.
 * @param {Workbox} worker
 * @returns {Promise<ServiceWorkerRegistration>}
 * @throws {LocalizedError}
 */
async function registerBy(worker) {
  /** @type {ServiceWorkerRegistration | undefined} */
  let registered;
  try {
    registered = await worker.register({ immediate: true });
  } catch (error) {
    console.warn("The service worker could not be registered:", error);
  }
  if (!registered) throw new LocalizedError(words("noServiceWorker"));
  return registered;
}

/** @param {HTMLButtonElement} button */
function offerInstall(button) {
  /** @type {(Event & {prompt(): Promise<unknown>}) | null} */
  let offer = null;
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault(); // don't show the browser's own prompt
    offer = /** @type {Event & {prompt(): Promise<unknown>}} */ (event);
    button.hidden = false;
  });
  button.addEventListener("click", () => {
    button.hidden = true; // prompt() works only once
    void offer?.prompt();
  });
  addEventListener("appinstalled", () => (button.hidden = true));
}
