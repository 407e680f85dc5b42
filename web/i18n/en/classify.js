// @ts-check
/** What the view Classify says, in English. */

export const classify = {
  /** @param {string} name @param {string} why */
  photoFailed: (name, why) => `“${name}” could not be classified: ${why}`,

  /** @param {number} index  of a class without a label */
  unnamed: (index) => `class ${index}`,

  /** @param {string} name */
  unknownModel: (name) => `There is no model named “${name}” here; this is the one used instead.`,

  /** @param {string} name */
  emptyPhoto: (name) => `“${name}” is empty (0 bytes). Choose another picture.`,

  /** @param {string} name @param {string} type  may be empty */
  notPhoto: (name, type) =>
    `“${name}”${type && ` (${type})`} is not a picture that this browser can open. ` +
    `Try a JPEG, PNG or WebP.`,

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
    "The browser does not let this page use the camera. Allow it beside the address, then try again.",
  cameraMissing: "No camera was found. Choose a photograph instead.",
  cameraBusy: "The camera can’t be used: another program may have it. Close that, then try again.",
  cameraEnded: "The camera has stopped. Close this and try again.",

  /** @param {string} why */
  cameraFailed: (why) => `The camera can’t be used: ${why}`,

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
};
