// @ts-check
/**
 * Whether the page works without a network: its service worker, written by Workbox when the site was
 * built, keeps all files. A new version is offered, and waits until it is wanted. Beside it, a
 * button that installs the page as an app, where the browser has that to offer.
 */

import { Workbox } from "workbox-window";

import { controller, registration } from "../../boot/registered.js";
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
  /** The service worker that the page began with, which has given it its files. */
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

  /** Say what is going to be, so that nothing moves when it is done. */
  announce() {
    const { serviceWorker } = navigator;
    if (!serviceWorker) void this.begin();
    else if (!this.#begun) this.#show(controller() ? "kept" : "keeping");
  }

  /** Keep the page's files, once nobody waits for anything; NumPy is among them. */
  async begin() {
    if (this.#begun) return;
    this.#begun = true;
    try {
      await this.#register();
    } catch (error) {
      this.#refused(error);
    }
  }

  /** There is a newer version, whose files this page lacks. */
  offer() {
    this.#begun = true; // whether its own files could be kept is of no interest any more
    this.#show("newer");
  }

  async #register() {
    if (!("serviceWorker" in navigator)) throw new LocalizedError(words("noServiceWorker"));
    const worker = new Workbox(WORKER.href, { updateViaCache: "none" });
    this.#worker = worker;
    // Workbox's own word for it takes the service worker of a folder above for an older one of ours.
    const isUpdate = controller() !== null;
    worker.addEventListener("waiting", () => this.#show("newer"));
    worker.addEventListener("activated", () => {
      if (!isUpdate) this.#show("kept");
    });
    worker.addEventListener("redundant", () => {
      // A new version that could not be had leaves the old one as good as it was.
      if (this.#state === "keeping") this.#refused(new LocalizedError(words("keepingFailed")));
    });
    worker.addEventListener("controlling", () => {
      if (this.#wanted) location.reload();
      else if (isUpdate) this.#show("newer"); // another tab asked for it
    });
    const registered = await registerBy(worker);
    // Another tab may have had a new version in before this one could hear of it.
    const before = this.#controller;
    const newer = before && before !== controller();
    const offered = newer || registered.waiting;
    this.#show(offered ? "newer" : registered.active ? "kept" : "keeping");
    // A page that stays open for days hears of a new version when it is looked at again.
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

  /** Have the new version in: every tab gets its files from now on, and this one starts with it. */
  async #renew() {
    this.#wanted = true;
    const registered = await registration();
    if (registered?.waiting) {
      if (this.#worker) return this.#worker.messageSkipWaiting();
      // A page that has not begun would not hear that the waiting one has come in.
      await registered.unregister();
    }
    location.reload();
  }
}

/**
 * Register the service worker. Browsers that keep none for this page say so in many ways: they reject,
 * or resolve with nothing, at which Workbox stumbles.
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
    event.preventDefault(); // no bar of the browser's over the page
    offer = /** @type {Event & {prompt(): Promise<unknown>}} */ (event);
    button.hidden = false;
  });
  button.addEventListener("click", () => {
    button.hidden = true; // an offer can be taken once
    void offer?.prompt();
  });
  addEventListener("appinstalled", () => (button.hidden = true));
}
