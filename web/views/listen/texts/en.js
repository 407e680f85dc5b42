// @ts-check
/** English texts of the Listen view. */

export const texts = {
  listenRecord: "Use the microphone",
  listenRecorded: "End the recording",
  listenAny: "The network recognises it",
  listenCopySrt: "Copy as SRT",

  listenNone: "Nothing has been heard yet.",

  listenOpening: "Opening the model…",
  listenDecoding: "Reading the file…",

  /** @param {string} time @param {boolean} speaks */
  listenListening: (time, speaks) =>
    speaks ? `Recording, ${time}: somebody speaks.` : `Recording, ${time}: nobody speaks.`,

  /** @param {string} time @param {string} whole */
  listenWorking: (time, whole) => `${time} of ${whole} heard`,

  listenEnding: "Writing down the rest…",

  /** @param {string} time @param {number} segments */
  listenDone: (time, segments) =>
    segments === 1 ? `${time} heard, 1 piece of text` : `${time} heard, ${segments} pieces of text`,

  listenSilent: "Nobody speaks in it.",

  listenRefused: "The browser does not let this page use the microphone.",
  listenNoMicrophone: "There is no microphone that the page can use.",

  /** @param {string} name */
  listenNoSound: (name) => `${name} is no sound that this browser can play.`,

  listenNotAudio: "That is no sound file.",

  /** @param {string} why */
  listenFailed: (why) => `Listening failed: ${why}`,
};
