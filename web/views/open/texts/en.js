// @ts-check
/** English texts of the Open view. */

import { bytes, count, time, tiny } from "../../../shared/format.js";

export const texts = {
  /** @param {string} name */
  openReading: (name) => `Reading ${name}…`,
  openRunning: "Running…",

  openTiming: "Timing warm runs…",
  openCancelled: "Cancelled.",
  openOther: "Another model was opened.",

  /** @param {number} seconds */
  openSeconds: (seconds) => `${count(seconds)} s`,

  /** @param {string} name @param {string} missing @param {string} given */
  openMissing: (name, missing, given) =>
    `“${name}” stores weights in other files, which are still missing: ${missing}. ` +
    `Choose or drop them here.${given && ` ${given}`}`,

  /** @param {string} names */
  openGivenToo: (names) => `Given so far: ${names}.`,

  /** @param {string} name @param {string} locations @param {string} names */
  openUnclear: (name, locations, names) =>
    `It is not clear which file is which: “${name}” stores weights in ${locations}, but you gave ` +
    `${names}. Drop the folder that holds the model and all its files here, or choose it.`,

  /** @param {string} path */
  openTwice: (path) =>
    `Two of these files are called ${path}. ` +
    `Drop the folder that holds the model and all its files here, or choose it.`,

  openFolder: "Choose the folder",

  /** @param {string} names */
  openUnneeded: (names) => `The model does not need ${names}.`,

  /** @param {string} name @param {string} why */
  openFailed: (name, why) => `“${name}” could not be opened: ${why}`,

  /** @param {string} why */
  openSurveyFailed: (why) => `The model does not fit these inputs: ${why}`,

  /** @param {string} why */
  openRunFailed: (why) => `The model could not be run: ${why}`,

  /** @param {string} names */
  openOnlyData: (names) => `There is no .onnx file among these: ${names}.`,

  // ---- summary ------------------------------------------------------------------------------

  openName: "Name",
  openProducer: "Producer",
  openOpsets: "Operator sets",
  openParameters: "Parameters",
  openBytes: "Files",
  openMultiplyAdds: "Multiply-adds",
  openTakes: "Inputs",
  openGives: "Outputs",
  openOperator: "Operator",
  openNodes: "Nodes",
  openWhere: "Where",
  openWhy: "Why",
  openOperators: "Operators of the model",
  openMore: "Description and properties",
  openUnnamed: "not given",
  openSurveying: "Counting…",

  /** @param {number | null} products @param {boolean} whole */
  openProducts: (products, whole) =>
    products === null || !(products || whole)
      ? "not known before it runs"
      : `${whole ? "" : "at least "}${count(products)} a run`,

  /** @param {number} elements @param {number} held */
  openWeights: (elements, held) => `${count(elements)} in ${bytes(held)}`,

  /** By where an operator runs. */
  openPlaces: {
    webgpu: { device: "GPU", host: "host (NumPy)", nowhere: "not supported" },
    wasm: { device: "WebAssembly", host: "host (NumPy)", nowhere: "not supported" },
    numpy: { device: "NumPy", host: "NumPy", nowhere: "not supported" },
    remote: { device: "another machine", host: "host (NumPy)", nowhere: "not supported" },
  },

  /**
   * By the code of a reason (py/tallow/formats/onnx/reasons.py), from its details.
   * @type {Record<string, (...details: (string | number)[]) => string>}
   */
  openReasons: {
    DECIDES: () => "it decides what is computed",
    HOST_ALONE: () => "its result can only be computed on the host",
    NO_NUMBERS: () => "it is about texts, sequences or optionals",
    IN_FLOAT64: () => "it computes in float64, which GPUs lack",
    IN_64_BITS: () => "its 64-bit integers may be larger than the 32 bits that GPUs compute",
    KNOWN_FIRST: (what) =>
      `${what} must be known when the model is loaded, but it is computed from its inputs ` +
      "(or is too large to compute in advance)",
    NO_OPERATOR: () => "Tallow has no such operator",
    NOT_IMPORTED: () => "the model does not import its operator set",
    DEFINED_LATER: (since) => `it was first defined in operator set ${since}`,
    OPERATOR_SETS: (first, last) => `Tallow supports it in operator sets ${first} to ${last}`,
    REFUSED: (why) => String(why),
  },

  /** @param {number} left */
  openAndMore: (left) => `and ${count(left)} more`,

  /**
   * @param {readonly (string | number)[] | null} lengths @param {string} type
   * @param {string} [kind]  of value; a tensor by default
   */
  openShape: (lengths, type, kind = "tensor") => {
    if (kind !== "tensor") return type;
    return `${type} ${lengths ? `[${lengths.join(", ")}]` : "of any shape"}`;
  },

  // ---- inputs -------------------------------------------------------------------------------

  /** @param {string} name */
  openLength: (name) => `Length of ${name}`,
  openGivenShape: "Shape",
  openValue: "Value",

  /** By the kind of value. */
  openKinds: {
    random: "random",
    zeros: "zeros",
    ones: "ones",
    counting: "0, 1, 2, …",
    numbers: "numbers",
    npy: ".npy file",
    image: "image",
    texts: "texts",
  },
  openGive: "Provide a value (otherwise omitted)",
  openAdd: "Add a tensor",
  openRemove: "Remove",
  openSeed: "Seed",
  openFrom: "From",
  openTo: "To",
  openNumbers: "Numbers, in order; a single number fills the tensor",
  openTexts: "Texts, one per line",
  openNpy: ".npy file",
  openImage: "Image file",
  openFit: "Size",
  openFitMiddle: "crop the middle",
  openFitWhole: "stretch",
  openLayout: "Layout",
  openOrder: "Colours",
  openPreset: "Values",

  /** Ranges of a picture's colour values. */
  openPresets: {
    unit: "0 to 1",
    signed: "−1 to 1",
    bytes: "0 to 255",
    imagenet: "as for ImageNet",
    own: "custom mean and scale",
  },
  openMean: "Mean to subtract",
  openScale: "Scale to multiply by",

  /** @param {number} wanted @param {number} given */
  openTextCount: (wanted, given) => `${count(wanted)} texts are needed, ${count(given)} were given`,

  /** @param {string} wanted @param {string} given */
  openNpyShape: (wanted, given) => `the file has the shape ${given}, not ${wanted}`,
  openNoFile: "choose a file first",
  openBadShape: "the shape must be whole numbers, as in 1, 3, 224, 224",
  openBadLength: "the length must be a whole number, 0 or more",
  openBadRule: "mean and scale must each be one number, or one for each channel",
  openBadRandom: "seed and bounds must be numbers",
  openTooLarge: "more elements than a tab can hold",
  openCannotFill: "values of this kind can’t be given here",
  openBadRuns: "The number of runs must be a whole number, 1 or more.",

  /** @param {string} name @param {string} why */
  openInputFailed: (name, why) => `The input “${name}”: ${why}.`,

  // ---- outputs ------------------------------------------------------------------------------

  openAs: "Shown as",

  /** By the way an output is shown. */
  openViews: { top: "best classes", table: "table", histogram: "histogram", image: "image" },
  openDownload: "Download .npy",
  openEmpty: "no value",

  /** @param {number} members */
  openMembers: (members) => (members ? `a sequence of ${count(members)}` : "an empty sequence"),

  /** @param {number} all */
  openWhich: (all) => `Which of ${count(all)}`,

  /** @param {number} index */
  openClass: (index) => `class ${index}`,

  /** @param {string} name */
  openOutputTable: (name) => `First values of ${name}`,

  /** @param {string} name */
  openOutputPicture: (name) => `${name} as a picture`,

  /** @param {string} name */
  openOutputHistogram: (name) => `How often values of ${name} occur`,

  /** @param {string} from @param {string} to @param {number} often */
  openBin: (from, to, often) => `${from} to ${to}: ${count(often)}`,

  /**
   * @param {string} least @param {string} most @param {string} mean @param {number} odd  how many
   *   values are not finite
   */
  openStatistics: (least, most, mean, odd) =>
    `from ${least} to ${most}, mean ${mean}${odd ? `; ${count(odd)} not finite` : ""}`,

  /** @param {number} shown @param {number} all */
  openFirst: (shown, all) => `The first ${count(shown)} of ${count(all)} values.`,

  /**
   * @param {string} device @param {number} first
   * @param {import("../../../shared/contract.js").Series | null} series
   */
  openTimes: (device, first, series) => {
    const begun = `${device}: first run ${time(first)}`;
    if (!series) return `${begun}.`;
    const { count: runs, median, low, high, least, most } = series;
    if (runs === 1) return `${begun}; one warm run, ${time(median)}.`;
    return (
      `${begun}; ${count(runs)} warm runs: median ${time(median)}, half of them from ` +
      `${time(low)} to ${time(high)}, all from ${time(least)} to ${time(most)}.`
    );
  },

  /** @param {number} steps @param {number} crossed */
  openCrossed: (steps, crossed) =>
    `The host computed ${count(steps)} operator${steps === 1 ? "" : "s"}; ` +
    `${bytes(crossed)} moved to and from it.`,

  /** @param {string} why */
  openMoved: (why) => `NumPy ran part of the model instead of the device: ${why}`,

  openComparing: "Computing on both devices…",

  /** @param {string} why */
  openCompareFailed: (why) => `The devices could not be compared: ${why}`,

  /** @param {number | null} difference @param {number | null} largest */
  openApart: (difference, largest) =>
    difference === null
      ? "The devices do not agree: one of them gives values that are not finite."
      : `Largest difference between the devices: ${tiny(difference)}` +
        (largest ? `, for values up to ${tiny(largest)}` : ""),

  /** @param {string} name @param {number} found */
  openLabelled: (name, found) => `${count(found)} labels from ${name}.`,

  /** @param {string} name @param {number} found @param {string} wanted */
  openMislabelled: (name, found, wanted) =>
    `${name} has ${count(found)} labels, but the outputs have ${wanted} classes: do they belong to this model?`,
};
