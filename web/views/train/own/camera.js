// @ts-check
/** Takes pictures of a class, one after the other, in a dialog that shows what the camera sees. */

import { words } from "../../../i18n/messages.js";
import { show } from "../../../i18n/show.js";
import { make } from "../../../widgets/dom.js";
import { Message } from "../../../widgets/message.js";

const CONSTRAINTS = {
  audio: false,
  video: { facingMode: "environment", width: { ideal: 640 }, height: { ideal: 640 } },
};

export class Camera {
  #dialog;
  #title = make("h2");
  #video = make("video", { playsinline: "", muted: "" });
  #shoot = make("button", { type: "button", "data-testid": "train-camera-shoot" });
  #count = make("p", { role: "status" });
  #message;
  /** @type {MediaStream | null} */
  #stream = null;
  #turn = 0;
  #taken = 0;
  /** @type {(picture: File) => void} */
  #take = () => {};

  /** @param {HTMLElement} root  gets the dialog */
  constructor(root) {
    const fault = make("p", { class: "fault", role: "alert" });
    const close = make("button", { type: "button", "data-testid": "train-camera-close" });
    const acts = make("div", { class: "acts" }, this.#shoot, close);
    this.#dialog = /** @type {HTMLDialogElement} */ (
      make("dialog", { class: "camera" }, this.#title, this.#video, this.#count, fault, acts)
    );
    this.#video.muted = true;
    this.#message = new Message(fault);
    show(this.#shoot, words("trainOwnShoot"));
    show(close, words("trainOwnClose"));
    this.#shoot.addEventListener("click", () => this.#picture());
    close.addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => this.#stop());
    addEventListener("hashchange", () => this.#dialog.close()); // another view is shown
    root.append(this.#dialog);
  }

  /**
   * Show the camera.
   * @param {string} name  of the class
   * @param {(picture: File) => void} take  called with each picture
   */
  async open(name, take) {
    const turn = ++this.#turn;
    this.#taken = 0;
    this.#take = take;
    show(this.#title, words("trainOwnCameraFor", name));
    this.#count.textContent = "";
    this.#message.clear();
    this.#shoot.disabled = true;
    this.#dialog.showModal();
    try {
      if (!navigator.mediaDevices) throw new DOMException("no secure page", "NotFoundError");
      const stream = await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
      if (turn !== this.#turn || !this.#dialog.open) {
        end(stream); // the dialog was closed before the visitor gave permission
        return;
      }
      this.#stream = stream;
      stream.getVideoTracks()[0].addEventListener("ended", () => {
        this.#stop();
        this.#message.show(words("trainOwnCameraEnded"));
      });
      this.#video.srcObject = stream;
      await this.#video.play();
      if (turn !== this.#turn) return;
      this.#shoot.disabled = false;
      this.#shoot.focus();
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#stop();
      const { name: kind } = /** @type {Error} */ (error);
      const refused = kind === "NotAllowedError" || kind === "SecurityError";
      this.#message.show(words(refused ? "trainOwnCameraRefused" : "trainOwnNoCamera"));
    }
  }

  /** Show something beside the picture. @param {import("../../../i18n/messages.js").Words} said */
  say(said) {
    show(this.#count, said);
  }

  #stop() {
    this.#turn += 1;
    if (this.#stream) end(this.#stream);
    this.#stream = null;
    this.#video.srcObject = null;
    this.#shoot.disabled = true;
  }

  #picture() {
    const { videoWidth: width, videoHeight: height } = this.#video;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d")?.drawImage(this.#video, 0, 0);
    const number = ++this.#taken;
    const take = this.#take;
    canvas.toBlob((blob) => {
      if (!blob) return;
      this.say(words("trainOwnTaken", number));
      take(new File([blob], `camera-${number}.jpg`, { type: blob.type }));
    }, "image/jpeg");
  }
}

/** @param {MediaStream} stream */
function end(stream) {
  for (const track of stream.getTracks()) track.stop();
}
