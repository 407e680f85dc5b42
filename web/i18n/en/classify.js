// @ts-check
/** English texts of the Classify view. */

export const classify = {
  /** @param {string} name @param {string} why */
  photoFailed: (name, why) => `“${name}” could not be classified: ${why}`,

  /** @param {number} index  of a class without a label */
  unnamed: (index) => `class ${index}`,

  /** @param {string} name */
  unknownModel: (name) => `There is no model named “${name}”, so this one is used instead.`,

  /** @param {string} name */
  emptyPhoto: (name) => `“${name}” is empty (0 bytes). Choose another picture.`,

  /** @param {string} name @param {string} type  may be empty */
  notPhoto: (name, type) =>
    `“${name}”${type && ` (${type})`} is not a picture that this browser can open. ` +
    `Try a JPEG, PNG or WebP.`,

  copyJson: "Copy as JSON",
  copyCsv: "Copy as CSV",
  goOn: "Continue",
  noFile: "What you dropped is not a file. Save the picture first, then drop the saved file.",

  /** @param {string} folders */
  noPictures: (folders) => `The folder “${folders}” contains no pictures.`,

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

  /** @param {string} name */
  heicPhoto: (name) =>
    `“${name}” is a HEIC picture, which this browser can’t open. Save it as a JPEG first.`,

  /** @param {string} name @param {string} format */
  damagedPhoto: (name, format) =>
    `“${name}” looks like a ${format}, but can’t be decoded: it is damaged or incomplete.`,

  /** @param {string} name @param {number} width @param {number} height @param {number} most */
  largePhoto: (name, width, height, most) =>
    `“${name}” is too large: ${width} × ${height} pixels. Pictures of up to ${most} million pixels ` +
    `can be opened; make it smaller first.`,
};
