// @ts-check
/**
 * Takes a picture in a dialog that shows what the camera sees. The camera runs only while the
 * dialog is open.
 *
 * A page without a secure address can't use the camera; a phone then takes the picture with its own
 * app.
 */

import { text } from "../../i18n/text.js";
import { Message } from "../../widgets/message.js";

const CONSTRAINTS = {
  audio: false,
  video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 960 } },
};

export class Camera {
  #dialog;
  #video;
  #shoot;
  #message;
  #take;
  /** @type {MediaStream | null} */
  #stream = null;
  #turn = 0;
  #taken = 0;

  /**
   * @param {HTMLElement} root  contains the button and the dialog
   * @param {(files: Promise<File[]>) => void} take  called with the picture
   */
  constructor(root, take) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#take = take;
    this.#dialog = /** @type {HTMLDialogElement} */ (find("dialog.camera"));
    this.#video = /** @type {HTMLVideoElement} */ (find("dialog.camera video"));
    this.#shoot = /** @type {HTMLButtonElement} */ (find("[data-testid=camera-shoot]"));
    this.#message = new Message(find("dialog.camera .fault"));
    const button = /** @type {HTMLButtonElement} */ (find("[data-testid=camera-open]"));
    const available = Boolean(navigator.mediaDevices?.getUserMedia);
    button.hidden = !available && !matchMedia("(pointer: coarse)").matches;
    button.addEventListener("click", () => (available ? void this.#open() : this.#askPhone()));
    this.#shoot.addEventListener("click", () => this.#picture());
    find("[data-testid=camera-cancel]").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => this.#stop());
    addEventListener("hashchange", () => this.#dialog.close()); // another view is shown
  }

  async #open() {
    const turn = ++this.#turn;
    this.#message.clear();
    this.#shoot.disabled = true;
    this.#dialog.showModal();
    try {
      const stream = await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
      if (turn !== this.#turn) {
        stop(stream); // the dialog was closed before the visitor gave permission
        return;
      }
      this.#stream = stream;
      stream.getVideoTracks()[0].addEventListener("ended", () => this.#fail(text.cameraEnded));
      this.#video.srcObject = stream;
      await this.#video.play();
      if (turn !== this.#turn) return;
      this.#shoot.disabled = false;
      this.#shoot.focus();
    } catch (error) {
      if (turn === this.#turn) this.#fail(explain(/** @type {Error} */ (error)));
    }
  }

  /** @param {string} words */
  #fail(words) {
    this.#stop();
    this.#message.show(words);
  }

  #stop() {
    this.#turn += 1;
    if (this.#stream) stop(this.#stream);
    this.#stream = null;
    this.#video.srcObject = null;
    this.#shoot.disabled = true;
  }

  #picture() {
    const { videoWidth: width, videoHeight: height } = this.#video;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d")?.drawImage(this.#video, 0, 0);
    const name = text.cameraFile(++this.#taken);
    this.#dialog.close();
    this.#take(
      new Promise((resolve, reject) => {
        canvas.toBlob(
          (blob) => {
            if (blob) resolve([new File([blob], name, { type: blob.type })]);
            else reject(new Error(text.cameraEnded));
          },
          "image/jpeg",
          0.95,
        );
      }),
    );
  }

  #askPhone() {
    const input = Object.assign(document.createElement("input"), {
      type: "file",
      accept: "image/*",
    });
    input.setAttribute("capture", "environment");
    input.addEventListener("change", () => {
      this.#take(Promise.resolve([...(input.files ?? [])]));
    });
    input.click();
  }
}

/** @param {MediaStream} stream */
function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}

/** Why the camera can't be used. @param {Error} error */
function explain({ name, message }) {
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return text.cameraRefused;
    case "NotFoundError":
    case "OverconstrainedError":
      return text.cameraMissing;
    case "NotReadableError":
      return text.cameraBusy;
    default:
      return text.cameraFailed(message || name);
  }
}
