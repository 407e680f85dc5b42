// @ts-check
/**
 * What the page says, in English. Every other language has the same entries (text.js).
 *
 * `page` holds what stands in index.html from the beginning, by the data-text of its element.
 */

import { megabytes, milliseconds, picture, tiny } from "../../shared/format.js";
import { open, openPage } from "./open.js";

export default {
  page: {
    title: "Tallow · deep learning in your browser tab",
    description:
      "Draw a digit or choose a photograph: neural networks built in Python, run on your own graphics card, in this tab.",
    unstarted:
      "This page’s scripts have not started. On a slow connection, wait a little. Otherwise reload the page; if that does not help, this browser is too old, or something blocks JavaScript modules.",
    views: "Views",
    toDraw: "Draw",
    toClassify: "Classify",
    language: "Language",
    drawTitle: "Draw a digit",
    drawLead: "A small neural network reads it while you draw. Several side by side make a number.",
    pad: "Drawing pad for digits, 0 to 9",
    padPrompt: "Draw here, 0 to 9",
    padHow: "Mouse, finger, pen or keyboard",
    padKeys: "Arrows move, hold Space to draw; Enter lowers and lifts the pen",
    tools: "Tools",
    undo: "Undo",
    undoHow: "Undo (Ctrl+Z)",
    redo: "Redo",
    redoHow: "Redo (Shift+Ctrl+Z)",
    brush: "Brush",
    thin: "Thin",
    thinHow: "Thin brush",
    medium: "Medium",
    mediumHow: "Medium brush",
    thick: "Thick",
    thickHow: "Thick brush",
    eraser: "Eraser",
    eraserHow: "Eraser: draw over what should go",
    clear: "Clear",
    digit: "The digit",
    number: "The number",
    seen: "Your drawing as the network sees it",
    seenCaption: "What the network sees",
    digitBars: "Probability of each digit",
    classifyTitle: "Choose a photograph",
    classifyLead:
      "A network that knows a thousand things says what it shows. The picture never leaves this tab.",
    choose: "Choose photographs",
    orDrop: "or drop or paste them anywhere on this page",
    model: "Model",
    classBars: "The five most probable classes",
    results: "The results, to copy",
    heatLeast: "did not matter",
    heatMost: "mattered most",
    camera: "Take a picture",
    shoot: "Take it",
    cancel: "Cancel",
    gallery: "Pictures",
    samples: "Or try one of these",
    credits: "Who took these photographs",
    engine: "Engine",
    status: "Status",
    progress: "Progress",
    install: "Install as an app",
    bootLog: "Boot log",
    device: "Computed by",
    latency: "Time of this answer",
    both: "WebGPU and NumPy",
    agreement: "Do both devices agree?",
    check: "Check against NumPy",
    speed: "How fast is each?",
    compare: "Compare WebGPU and NumPy",
    kernels: "Kernels",
    kernelsAbout: "what this answer was computed with",
    tuningProgress: "Progress of the tuning",
    order: "Order",
    orderRun: "as they run",
    orderTime: "slowest first",
    plan: "Plan as JSON",
    trace: "Trace for Perfetto",
    kernelsTable: "Kernels of this answer",
    kernel: "Kernel",
    share: "Share of the time",
    time: "Time",
    bytes: "Bytes in → out",
    slots: "Slots in → out",
    how: "Python builds each network and compiles it to WebGPU shaders, in this tab. Nothing you draw or choose leaves your machine.",
    licence: "Licence",
    notices: "Notices",
    ...openPage,
  },

  ...open,

  preparing: "Preparing…",
  startingAgain: "Starting again…",
  startingPython: "Starting Python…",
  tryAgain: "Try again",

  /** @param {number} done @param {number} total  bytes */
  loading: (done, total) => `Loading ${megabytes(done)} of ${megabytes(total)} MB`,

  /** @param {number} done @param {number} total */
  compiling: (done, total) => `Compiling kernels, ${done} of ${total}`,

  /** @param {number} kernels  0 where none are compiled */
  ready: (kernels) => (kernels ? `Ready · ${kernels} kernels compiled` : "Ready"),

  /** For screen readers, while the keyboard draws. */
  penDown: "Pen down",
  penUp: "Pen up",

  /** @param {string} digit */
  digitRead: (digit) => `The digit is ${digit}`,

  /** @param {string} number */
  numberRead: (number) => `The number is ${number}`,

  /** @param {string} why */
  digitFailed: (why) => `The digit could not be read: ${why}`,

  /** @param {string} name @param {string} why */
  photoFailed: (name, why) => `“${name}” could not be classified: ${why}`,

  /** @param {number} index  of a class without a label */
  unnamed: (index) => `class ${index}`,

  /** @param {string} name */
  unknownModel: (name) => `There is no model named “${name}” here; this is the one used instead.`,

  /** @param {string} reason */
  noWebGpu: (reason) => `WebGPU can’t be had: ${reason}`,
  unnamedAdapter: "WebGPU adapter that does not tell its name",

  noCanvas: "This browser gives the page no 2-D canvas, which drawing and pictures need.",

  /** @param {string} name */
  emptyPhoto: (name) => `“${name}” is empty (0 bytes). Choose another picture.`,

  /** @param {string} name @param {string} type  may be empty */
  notPhoto: (name, type) =>
    `“${name}”${type && ` (${type})`} is not a picture that this browser can open. ` +
    `Try a JPEG, PNG or WebP.`,

  // ---- Without a network --------------------------------------------------------------------

  keeping: "Being kept, to work offline…",
  kept: "Works offline",
  /** @param {string} why */
  notKept: (why) => `Does not work offline: ${why}`,
  newer: "A new version of this page is here.",
  reload: "Reload with it",
  keepingFailed: "the files could not be kept; the next visit tries again.",
  noServiceWorker: "this browser keeps no files for this address.",

  // ---- WebGPU beside NumPy ------------------------------------------------------------------

  nothingToCheck: "Draw a digit or choose a photograph first.",
  aboutCheck: "Computes this answer on both, and shows the largest difference.",
  aboutCompare: "Computes this answer on both, and shows the times side by side.",
  computingBoth: "Computing on both…",

  /** @param {number} difference @param {number} classes */
  checked: (difference, classes) =>
    `The largest difference of the ${classes} probabilities is ${tiny(difference)}: ` +
    (difference < 1e-3 ? "WebGPU and NumPy agree." : "more than rounding explains."),

  /** @param {string} model @param {number} runs */
  compared: (model, runs) =>
    `${model}: the first answer includes compiling; a warm one is the median of up to ${runs}.`,

  /** @param {"first" | "warm"} run @param {string} device */
  runOn: (run, device) => `${run === "first" ? "First run" : "Warm"} · ${device}`,

  /** @param {string} why */
  bothFailed: (why) => `The answer could not be computed on both: ${why}`,

  // ---- the boot log -------------------------------------------------------------------------

  /** @type {Record<import("../../widgets/engine/bootlog.js").Stage["name"], (model: string) => string>} */
  stages: {
    snapshot: () => "Python and Tallow, from a snapshot",
    numpySnapshot: () => "Python, Tallow and NumPy, from a snapshot",
    python: () => "Python runtime",
    tallow: () => "Tallow",
    numpy: () => "NumPy",
    model: (model) => `Model ${model}`,
    plan: (model) => `Plan of ${model}, from an earlier visit`,
    kernels: (model) => `Kernels of ${model}`,
    keep: (model) => `Keeping the plan of ${model}`,
    storage: () => "Keeping plans for later visits",
  },

  /** @param {number} done @param {number} total */
  kernelsOf: (done, total) => `${done} of ${total}`,

  /** @param {string} why */
  stageFailed: (why) => `failed: ${why}`,
  noStorage: "this browser keeps nothing for this address.",
  insecure: "browsers keep nothing for an address without https.",
  planDamaged: "what was kept is damaged; it is made anew",

  // ---- what fails and is replaced -----------------------------------------------------------

  /** @param {string} why */
  workerFailed: (why) => `The worker failed: ${why}.`,

  /** @param {string} path */
  noWorkerFile: (path) => `${path} or a module that it imports could not be loaded`,

  /** @param {number} seconds */
  workerStuck: (seconds) => `The worker has not said a word for ${seconds} seconds.`,

  workerGarbled: "The worker sent what the page can’t read.",

  /** @param {string} reason  a sentence */
  workerReplaced: (reason) => `${reason} Starting another…`,

  gpuLost: "The GPU device was lost: opening another…",
  goingOnWithNumpy: "The GPU device was lost twice within a minute: going on with NumPy…",
  readyWithoutGpu: "Ready · on NumPy, since the GPU device was lost twice",
  withoutGpu:
    "NumPy, since the GPU device was lost twice within a minute. Choose WebGPU to try it again.",

  /** @param {string} why */
  startFailed: (why) => `The device could not be made ready: ${why}`,

  /** @param {string} model @param {string} why */
  modelFailed: (model, why) => `The model ${model} could not be loaded: ${why}`,

  /** @param {string} why */
  pythonFailed: (why) => `Python could not be started: ${why}`,

  /** @param {string} version */
  otherSnapshot: (version) => `The snapshot holds Tallow ${version}.`,

  /** @param {string} why */
  numpyFailed: (why) => `NumPy could not be loaded: ${why}`,

  noGpuHere: "This browser has no WebGPU.",
  gpuNeedsHttps: "WebGPU needs a secure page: https, or an address of this computer.",
  noAdapter: "This browser has WebGPU, but found no adapter for it.",

  /** @param {string} why */
  adapterRefused: (why) => `The WebGPU adapter refused to open a device: ${why}`,

  noWebAssembly:
    "This browser has no WebAssembly, or forbids it to this page; Python can’t run without it.",

  // ---- many pictures ------------------------------------------------------------------------

  copyJson: "Copy as JSON",
  copyCsv: "Copy as CSV",
  goOn: "Go on",
  noFile: "What was dropped is not a file. Save the picture first, then drop its file.",

  /** @param {string} folders */
  noPictures: (folders) => `There is no picture in the folder “${folders}”.`,

  /** @param {number} done @param {number} total */
  galleryCount: (done, total) => `${done} of ${total}`,

  /** @param {number} total */
  galleryBegun: (total) => `Looking at ${total} pictures, one after the other.`,

  /** @param {number} good @param {number} bad */
  galleryDone: (good, bad) =>
    `${good} pictures classified${bad ? `, ${bad} could not be` : ""}. Choose one to see it large.`,

  /** @param {number} left */
  galleryStopped: (left) => `Stopped: ${left} pictures are left.`,

  /** @param {number} given @param {number} most */
  galleryMost: (given, most) => `Of these ${given} files, the first ${most} are taken.`,

  // ---- samples ------------------------------------------------------------------------------

  samples: {
    chelsea: "Cat",
    coffee: "Coffee",
    flower: "Flower",
    china: "Palace",
    rocket: "Rocket",
    astronaut: "Astronaut",
    camera: "Cameraman",
    brick: "Wall",
  },

  /** @param {string} author */
  creditBy: (author) => ` by ${author}, `,
  publicDomain: "public domain",

  // ---- camera -------------------------------------------------------------------------------

  /** @param {number} number */
  cameraFile: (number) => `Camera ${number}.jpg`,
  cameraRefused:
    "The browser does not let this page use the camera. Allow it beside the address, then try again.",
  cameraMissing: "No camera was found. Choose a photograph instead.",
  cameraBusy: "The camera can’t be used: another program may have it. Close that, then try again.",
  cameraEnded: "The camera has stopped. Close this and try again.",

  /** @param {string} why */
  cameraFailed: (why) => `The camera can’t be used: ${why}`,

  // ---- what mattered ------------------------------------------------------------------------

  heatShow: "What mattered?",
  heatHide: "Hide the map",

  /** @param {number} runs */
  heatRuns: (runs) => `Covering the picture with a grey square, in ${runs} places.`,

  /** By thirds of the picture, from above to below and from left to right. */
  heatPlaces: [
    ["upper left", "upper middle", "upper right"],
    ["left", "middle", "right"],
    ["lower left", "lower middle", "lower right"],
  ],

  /** @param {string} label @param {string} where @param {string} before @param {string} after */
  heatFound: (label, where, before, after) =>
    `For “${label}” the ${where} mattered most: covered there, it falls from ${before} to ${after}.`,

  /** @param {string} label */
  heatNowhere: (label) => `No single place mattered for “${label}”: covering it changes little.`,

  /** @param {string} why */
  heatFailed: (why) => `What mattered could not be found: ${why}`,

  // ---- pictures that can't be opened --------------------------------------------------------

  /** @param {string} name */
  heicPhoto: (name) =>
    `“${name}” is a HEIC picture, which this browser can’t open. Save it as a JPEG first.`,

  /** @param {string} name @param {string} format */
  damagedPhoto: (name, format) =>
    `“${name}” begins as a ${format}, but can’t be decoded: it is damaged or cut off.`,

  /** @param {string} name @param {number} width @param {number} height @param {number} most */
  largePhoto: (name, width, height, most) =>
    `“${name}” is too large: ${width} × ${height} pixels. Pictures of up to ${most} million pixels ` +
    `can be opened; make it smaller first.`,

  // ---- files of the site --------------------------------------------------------------------

  /** @param {string} path */
  unreachable: (path) =>
    `${path} could not be fetched: the server can’t be reached. Check the connection.`,

  /** @param {string} path */
  missing: (path) => `${path} is missing from the server (404).`,

  /** @param {string} path @param {number} status */
  refused: (path, status) => `${path} could not be fetched: the server answered ${status}.`,

  /** @param {string} path @param {number} seconds */
  silent: (path, seconds) =>
    `${path} could not be fetched: the server was silent for ${seconds} seconds.`,

  /** @param {string} path @param {number} bytes */
  cutOff: (path, bytes) => `${path} was cut off after ${bytes} bytes. Check the connection.`,

  /** @param {string} path @param {number} found @param {number} expected */
  wrongSize: (path, found, expected) =>
    `${path} is damaged: it has ${found} bytes, expected ${expected}.`,

  /** @param {string} path @param {string} found @param {string} expected */
  wrongSum: (path, found, expected) =>
    `${path} is damaged: its sha256 is ${found}, expected ${expected}.`,

  /** @param {string} path */
  notJson: (path) => `${path} is damaged: it is not JSON.`,

  /** @param {string} name @param {string} names */
  noModel: (name, names) => `There is no model named ${name}. There are: ${names}.`,

  // ---- kernels ------------------------------------------------------------------------------

  noKernelsYet: "Draw a digit or choose a photograph; its kernels are shown here.",
  measuring: "Measuring…",
  noWgsl: "NumPy computes this step: there is no WGSL.",
  copy: "Copy",
  copied: "Copied",
  copyByKeys: "Marked: copy with the keyboard",

  /** @param {string} groups */
  workgroups: (groups) => `${groups} workgroups`,

  /** @param {string} why */
  profileFailed: (why) => `The kernels could not be timed: ${why}`,

  /**
   * How many kernels, how long, and how that is known.
   * @param {import("../../widgets/kernels/kernels.js").Profile} profile
   */
  profiled: ({ kernels, milliseconds: ms, source, repeats, resolution }) => {
    const runs = repeats === 1 ? "one run" : `${repeats} runs`;
    const figure = repeats === 1 ? "in" : resolution ? "mean of" : "median of";
    const sum = `${kernels.length} kernels, ${milliseconds(ms)} in all.`;
    if (source === "counted") {
      return (
        `${sum} This device has no clock for single kernels: each one’s share is counted from ` +
        `its arithmetic and bytes, not measured. The whole is measured, over ${runs}.`
      );
    }
    const whose = source === "timestamp" ? "by the GPU’s own clock" : "by Python’s clock";
    if (!resolution) return `${sum} Measured ${whose}, ${figure} ${runs}.`;
    const tick = Number(resolution.toPrecision(2));
    return (
      `${sum} Measured ${whose}, ${figure} ${runs}; in this browser it ticks every ${tick} ms, so ` +
      `the times of short kernels are rough.`
    );
  },

  // ---- tuning -------------------------------------------------------------------------------

  tune: "Tune for this device",
  cancel: "Cancel",
  cancelling: "Cancelling after this op…",
  tuning:
    "Times every kernel that could compute this model here, and keeps the fastest: some seconds.",
  noTuningYet: "Once an answer is there and measured, its model can be tuned.",
  nothingToTune: "NumPy has one way to compute each op: there is nothing to tune.",

  /** By kind, of py/tallow/runtime/tuning.py. */
  tuningWarnings: {
    /** @param {string} why @param {string} kernel */
    leftOut: (why, kernel) => `${kernel} was left out: ${why}.`,

    /** @param {string} why */
    unread: (why) =>
      `The tuning record cannot be read: this browser refuses storage: ${why}. ` +
      `Kernels are chosen by rule.`,

    /** @param {string} why */
    damaged: (why) =>
      `The tuning record is thrown away: ${why}. Kernels are chosen by rule until it is tuned again.`,

    /** @param {string} why */
    unkept: (why) => `The tuning record is not kept: this browser refuses storage: ${why}.`,
  },

  /** @param {number} op @param {number} total */
  tuningOp: (op, total) => `Tuning, op ${op} of ${total}`,

  /** @param {string} why */
  tuningFailed: (why) => `The kernels could not be tuned: ${why}`,

  /**
   * What tuning has changed.
   * @param {string} model
   * @param {import("../../engine/types.js").Tuned} tuned
   */
  tuned: (model, { ops, measured, replaced, clock, stopped }) => {
    if (!ops) return `${model} has no op with a choice of kernels: nothing changed.`;
    if (!measured) return "Cancelled before anything was measured: nothing changed.";
    const early = stopped && measured < ops;
    const part = early ? `Cancelled: ${measured} of ${ops} ops were measured, which is kept. ` : "";
    const whose =
      clock === "timestamp"
        ? "Timed by the GPU’s own clock."
        : "Timed by the page’s clock, since this device has none for single kernels.";
    if (!replaced.length) {
      return `${part}${model}: the rule was right already, no kernel replaced. ${whose}`;
    }
    const [{ op, shape, gain }] = replaced;
    const best = gain > 1 ? `, fastest gain ${op} ${picture(shape)} ${gain.toFixed(1)}×` : "";
    return `${part}${model}: ${replaced.length} of ${measured} kernels replaced${best}. ${whose}`;
  },
};
