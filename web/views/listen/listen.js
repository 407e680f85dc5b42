// @ts-check
/** The Listen view: speech from the microphone or a file, written down with times. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { language } from "../../i18n/text.js";
import { CopyButton } from "../../widgets/copy_button.js";
import { Message } from "../../widgets/message.js";
import { ModelChoice } from "../../widgets/model/choice.js";
import { SavedFiles } from "../../widgets/saved_files.js";
import { decoded, Microphone, RATE } from "../../widgets/sound/sounds.js";
import { Said } from "./said.js";
import { clock, plain, srt, vtt } from "./subtitles.js";

/** Seconds of a recording that are handed on together, at least. */
const LEAST = 0.5;

/** The languages that Whisper knows (openai/whisper, tokenizer.py), most of them first. */
const KNOWN =
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su";

/** @import {View} from "../view.js" */
/** @typedef {import("../../shared/contract.js").SpeechModel} SpeechModel */
/** @typedef {import("../../shared/contract.js").HeardAnswer} HeardAnswer */
/** @typedef {import("../../shared/contract.js").HeardText} HeardText */
/** @typedef {"none" | "loading" | "listening" | "working" | "done" | "failed"} State */

/** @implements {View} */
export default class Listen {
  #engine;
  #timed;
  #hook;
  #said;
  #message;
  #saved = new SavedFiles();
  #choice;
  /** Whether nothing of the sound was handed on yet. */
  #first = true;
  /** How much of it was heard. */
  #seconds = 0;
  /** Ends what is being heard. @type {AbortController | null} */
  #work = null;
  /** Ends the recording, whose rest is still written down. @type {(() => void) | null} */
  #endRecording = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../view.js").Page} page
   */
  constructor(root, { engine, timed }) {
    /** @param {string} name @returns {any} */
    const hook = (name) => root.querySelector(`[data-testid=listen-${name}]`);
    this.#engine = engine;
    this.#timed = timed;
    this.#hook = hook;
    this.#message = new Message(/** @type {any} */ (root.querySelector(".message")));
    this.#said = new Said(hook("text"));
    const segments = () => this.#said.segments;
    new CopyButton(
      hook("copy"),
      "copy",
      () => plain(segments()),
      () => {},
    );
    new CopyButton(
      hook("copy-srt"),
      /** @type {any} */ ("listenCopySrt"),
      () => srt(segments()),
      () => {},
    );
    const save = (/** @type {string} */ ending, /** @type {typeof srt} */ format) =>
      hook(`save-${ending}`).addEventListener("click", () => {
        this.#saved.save(`speech.${ending}`, () => new Blob([format(segments())]));
      });
    save("srt", srt);
    save("vtt", vtt);
    hook("file").addEventListener("change", () => {
      this.takeFiles([...hook("file").files]);
      hook("file").value = "";
    });
    hook("start").addEventListener("click", () => {
      if (this.#endRecording) this.#endRecording();
      else void this.#record();
    });
    hook("stop").addEventListener("click", () => this.#work?.abort());
    hook("clear").addEventListener("click", () => {
      this.#forget();
      this.#state("none", words("listenNone"));
    });
    this.#choice = new ModelChoice(hook("choice"), {
      view: "listen",
      task: "listen",
      beside: "voice",
      kind: "safetensors",
      open: (source, options, voice) =>
        /** @type {Promise<SpeechModel>} */ (
          engine.ask("listen.load", { source, voice: { files: voice?.files } }, options)
        ),
      opened: (name, { languages }) => {
        this.#offerLanguages([...languages]);
        hook("translate").disabled = !languages.length;
        return words("choiceLoaded", name);
      },
      changed: () => this.#render(),
    });
    this.#offerLanguages(KNOWN.split(" "));
    this.#state("none", words("listenNone"));
    this.#choice.begin();
  }

  /** This view needs none of the site's own models. @returns {Promise<null>} */
  async model() {
    return null;
  }

  /** Whether nothing was heard. */
  get untouched() {
    return !this.#work && !this.#said.segments.length;
  }

  /** The device changed, or the worker failed: the networks are no longer there. */
  answer() {
    this.#choice.forget();
    this.#timed(null);
  }

  /** Hear the first sound among files. @param {File[]} files */
  takeFiles(files) {
    if (this.#work || !files.length) return;
    const file = files.find(
      ({ name, type }) =>
        type.startsWith("audio/") || /\.(wav|mp3|m4a|og[ga]|opus|flac|aac)$/i.test(name),
    );
    if (file) void this.#play(file);
    else this.#message.show(words("listenNotAudio"));
  }

  // ---- the networks ---------------------------------------------------------------------------

  /** @param {string[]} codes */
  #offerLanguages(codes) {
    const select = this.#hook("language");
    const { value } = select;
    const any = show(new Option("", ""), words("listenAny"));
    const options = codes.map((code) => show(new Option("", code), () => nameOf(code)));
    select.replaceChildren(any, ...options);
    select.value = codes.includes(value) ? value : "";
    select.disabled = !codes.length;
  }

  /**
   * Have the worker open the networks.
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>}  false if it has said why not
   */
  async #load(signal) {
    this.#state("loading", words("listenOpening"));
    const model = await this.#choice.load(signal);
    signal.throwIfAborted();
    if (!model) this.#fail(this.#choice.failed ?? words("choiceCancelled"));
    return model !== null;
  }

  // ---- sounds ---------------------------------------------------------------------------------

  /** @param {File} file */
  async #play(file) {
    await this.#working(async (signal) => {
      this.#state("loading", words("listenDecoding"));
      const sound = await decoded(file).catch(() => null);
      if (!sound) {
        this.#fail(words("listenNoSound", file.name));
        return false;
      }
      if (!(await this.#load(signal))) return false;
      const whole = clock(sound.seconds);
      let heard = 0;
      this.#state("working", words("listenWorking", clock(0), whole));
      for (const samples of sound.pieces()) {
        heard += samples.length / RATE;
        const last = heard > sound.seconds - 1 / RATE;
        const { seconds } = await this.#hear(samples, { last, live: false }, signal);
        this.#state("working", words("listenWorking", clock(seconds), whole));
      }
      return true;
    });
  }

  async #record() {
    if (this.#work) return;
    await this.#working(async (signal) => {
      /** @type {(() => void) | null} */
      let wake = null;
      let ended = false;
      const microphone = await Microphone.open(() => wake?.()).catch((error) => {
        const refused = ["NotAllowedError", "SecurityError"].includes(error.name);
        this.#fail(words(refused ? "listenRefused" : "listenNoMicrophone"));
        return null;
      });
      if (!microphone) return false;
      const end = () => {
        ended = true;
        microphone.close();
        wake?.();
      };
      this.#endRecording = () => {
        this.#endRecording = null;
        end();
        this.#state("working", words("listenEnding"));
      };
      signal.addEventListener("abort", end);
      try {
        this.#render();
        if (!(await this.#load(signal))) return false;
        let heard = { seconds: 0, speaks: false };
        for (let last = false; !last;) {
          if (!ended) {
            const { seconds, speaks } = heard;
            this.#state("listening", words("listenListening", clock(seconds), speaks));
          }
          while (!ended && microphone.waiting < LEAST * RATE)
            await new Promise((resolve) => (wake = () => resolve(null)));
          last = ended;
          heard = await this.#hear(microphone.take(), { last, live: true }, signal);
        }
        return true;
      } finally {
        this.#endRecording = null;
        end();
      }
    });
  }

  /**
   * Work on one sound; whatever ends it, the view is ready for the next.
   * @param {(signal: AbortSignal) => Promise<boolean>} work  false if it has said why it failed
   */
  async #working(work) {
    const stop = new AbortController();
    this.#work = stop;
    this.#forget();
    this.#first = true;
    this.#seconds = 0;
    const began = performance.now();
    this.#render();
    try {
      if (await work(stop.signal)) {
        this.#timed(performance.now() - began);
        this.#end();
      }
    } catch (error) {
      if (stop.signal.aborted) this.#end();
      else this.#fail(words("listenFailed", /** @type {any} */ (wordsOf(error))));
    } finally {
      this.#said.drop();
      this.#work = null;
      this.#render();
    }
  }

  /**
   * Have the worker hear more of the sound.
   * @param {Float32Array} samples
   * @param {{last: boolean, live: boolean}} how
   * @param {AbortSignal} signal
   * @returns {Promise<HeardAnswer>}
   */
  async #hear(samples, how, signal) {
    const options = {
      ...how,
      first: this.#first,
      language: this.#hook("language").value || null,
      translate: this.#hook("translate").checked,
    };
    this.#first = false;
    const onProgress = (/** @type {any} */ heard) => {
      if (heard.stage !== "heard") return;
      this.#said.add(/** @type {HeardText} */ (heard));
      this.#render();
    };
    const answer = /** @type {HeardAnswer} */ (
      await this.#engine.ask(
        "listen.hear",
        { samples, options },
        { signal, onProgress, proves: true },
      )
    );
    this.#said.drop();
    this.#seconds = answer.seconds;
    return answer;
  }

  // ---- what is shown --------------------------------------------------------------------------

  #end() {
    const { length } = this.#said.segments;
    const silent = this.#seconds > 0 && !length && !this.#work?.signal.aborted;
    const done = words("listenDone", clock(this.#seconds), length);
    this.#state("done", silent ? words("listenSilent") : done);
  }

  /** @param {State} state @param {import("../../i18n/messages.js").Words} line */
  #state(state, line) {
    const list = this.#hook("text");
    if (list.dataset.state !== state) list.dataset.state = state;
    list.setAttribute("aria-busy", String(["loading", "listening", "working"].includes(state)));
    show(this.#hook("state"), line);
  }

  /** @param {import("../../i18n/messages.js").Words} why */
  #fail(why) {
    this.#state("failed", words("listenNone"));
    this.#message.show(why);
  }

  #forget() {
    this.#said.clear();
    this.#saved.forget();
    this.#message.clear();
    this.#render();
  }

  #render() {
    const busy = this.#work !== null;
    const records = this.#endRecording !== null;
    const there = this.#choice.chosen;
    const start = this.#hook("start");
    show(start, words(records ? "listenRecorded" : "listenRecord"));
    start.setAttribute("aria-pressed", String(records));
    start.disabled = !there || (busy && !records);
    this.#hook("stop").disabled = !busy;
    this.#hook("file").disabled = busy || !there;
    this.#choice.lock(busy);
    const none = !this.#said.segments.length;
    for (const name of ["copy", "copy-srt", "save-srt", "save-vtt"])
      this.#hook(name).disabled = none;
    this.#hook("clear").disabled = busy || none;
  }
}

/** A language's name in the page's. @param {string} code */
function nameOf(code) {
  const names = new Intl.DisplayNames([language], { type: "language" });
  return names.of(code) ?? code;
}
