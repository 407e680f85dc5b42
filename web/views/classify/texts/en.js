// @ts-check
/** English texts of the Classify view. */

export const texts = {
  /** @param {string} name @param {string} why */
  photoFailed: (name, why) => `“${name}” could not be classified: ${why}`,

  /** @param {number} index  of a class without a label */
  unnamed: (index) => `class ${index}`,

  /** @param {string} name */
  unknownModel: (name) => `There is no model named “${name}”, so this one is used instead.`,
  goOn: "Continue",

  /** @param {number} done @param {number} total */
  galleryCount: (done, total) => `${done} of ${total}`,

  /** @param {number} total */
  galleryBegun: (total) => `Classifying ${total} pictures, one at a time.`,

  /** @param {number} good @param {number} bad */
  galleryDone: (good, bad) =>
    `${good} pictures classified${bad ? `, ${bad} failed` : ""}. Choose one to enlarge it.`,

  /** @param {number} left */
  galleryStopped: (left) => `Stopped with ${left} pictures left.`,

  /** @param {number} given @param {number} most */
  galleryMost: (given, most) => `Only the first ${most} of these ${given} files are used.`,

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

  /** @param {number} number */
  cameraFile: (number) => `Camera ${number}.jpg`,
  cameraRefused:
    "The browser does not allow this page to use the camera. Allow it in the address bar, then try again.",
  cameraMissing: "No camera was found. Choose a photograph instead.",
  cameraBusy:
    "The camera can’t be used: another program may be using it. Close that program, then try again.",
  cameraEnded: "The camera has stopped. Close this and try again.",

  /** @param {string} why */
  cameraFailed: (why) => `The camera can’t be used: ${why}`,

  heatShow: "What mattered?",
  heatHide: "Hide the map",

  /** @param {number} runs */
  heatRuns: (runs) => `Covering the picture with a grey square, in ${runs} places.`,

  /** By thirds of the picture, from top to bottom and from left to right. */
  heatPlaces: [
    ["upper left", "upper middle", "upper right"],
    ["left", "middle", "right"],
    ["lower left", "lower middle", "lower right"],
  ],

  /** @param {string} label @param {string} where @param {string} before @param {string} after */
  heatFound: (label, where, before, after) =>
    `For “${label}” the ${where} mattered most: covering it lowers the probability from ${before} to ${after}.`,

  /** @param {string} label */
  heatNowhere: (label) =>
    `No single part mattered for “${label}”: covering any of them changes little.`,

  /** @param {string} why */
  heatFailed: (why) => `The map could not be computed: ${why}`,
};
