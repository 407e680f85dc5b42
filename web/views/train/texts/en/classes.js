// @ts-check
/** English texts of the Train view: the visitor's own classes and texts. */

import { bytes, count } from "../../../../shared/format.js";

const examples = (/** @type {number} */ number) =>
  number === 1 ? "1 example" : `${count(number)} examples`;

export const texts = {
  trainOwnSigns: "Your own signs",
  trainOwnThings: "Your own pictures",
  trainOwnNoises: "Your own sounds",
  trainOwnWords: "Your own text",

  trainOwnHere: "What you give stays in this browser.",
  trainOwnName: "New class",
  trainOwnAdd: "Add class",
  trainOwnFolder: "Add a folder of folders",
  trainOwnZip: "Add a zip of folders",
  trainOwnStop: "Stop",
  trainOwnUndo: "Undo",
  trainOwnClose: "Close",

  /** @param {number} number */
  trainOwnCount: (number) => examples(number),
  trainOwnRemove: "Remove",
  /** @param {string} name */
  trainOwnRemoveClass: (name) => `Remove the class “${name}”`,
  /** @param {string} name @param {number} number */
  trainOwnRemoved: (name, number) => `The class “${name}” with ${examples(number)} is removed.`,
  /** @param {string} name */
  trainOwnDrop: (name) => `Remove this example of “${name}”`,
  /** @param {string} name */
  trainOwnDropped: (name) => `An example of “${name}” is removed.`,

  trainOwnPictures: "Add pictures",
  trainOwnSounds: "Add sounds",
  /** @param {string} name */
  trainOwnFilesOf: (name) => `Files for “${name}”`,
  trainOwnCamera: "Camera",
  /** @param {string} name */
  trainOwnCameraFor: (name) => `Pictures of “${name}”`,
  trainOwnShoot: "Take a picture",
  /** @param {number} number */
  trainOwnTaken: (number) => `${count(number)} taken`,
  trainOwnCameraRefused:
    "The camera may not be used: allow it for this page in the browser’s settings, or choose files.",
  trainOwnNoCamera: "No camera was found. Choose files instead.",
  trainOwnCameraEnded: "The camera was switched off. Close this, and open it again.",
  trainOwnRecord: "Record",
  trainOwnRecorded: "End the recording",
  trainOwnMicrophoneRefused:
    "The microphone may not be used: allow it for this page in the browser’s settings, or choose files.",
  trainOwnNoMicrophone: "No microphone was found. Choose files instead.",

  trainOwnDrawSigns: "Draw",
  /** @param {string} name */
  trainOwnDraw: (name) => `Draw a sign of “${name}”, and keep it; a few, a little different each.`,
  trainOwnPad: "Pad for signs",
  trainOwnPadKeys:
    "Mouse, finger or pen. Keyboard: arrows move, hold Space to draw; Enter lowers and lifts the pen.",
  trainOwnKeep: "Keep",
  trainOwnClear: "Clear",
  /** @param {string} name @param {number} number */
  trainOwnKept: (name, number) => `“${name}” has ${examples(number)}.`,

  trainOwnText: "The text to learn from",
  trainOwnTextFile: "Choose a text file",
  /** @param {number} number @param {number} different */
  trainOwnLetters: (number, different) =>
    `${count(number)} characters, ${count(different)} of them different`,
  /** @param {number} number @param {number} least */
  trainOwnShortText: (number, least) =>
    `The text has ${count(number)} characters; at least ${count(least)} are needed.`,
  /** @param {string} name @param {number} most  megabytes */
  trainOwnLongText: (name, most) => `“${name}” is too large: ${count(most)} MB are the most.`,
  /** @param {string} name */
  trainOwnNoText: (name) => `“${name}” is no text in UTF-8.`,

  trainOwnNoName: "Write a name for the class first.",
  /** @param {string} name */
  trainOwnTwice: (name) => `There is a class “${name}” already.`,
  /** @param {number} most */
  trainOwnTooMany: (most) => `There can be ${count(most)} classes at most.`,
  trainOwnWhere: "Choose a class first, and add files to it.",
  /** @param {number} number */
  trainOwnUnplaced: (number) =>
    number === 1
      ? "A picture was in no folder. Add it to a class, or drop it on one."
      : `${count(number)} pictures were in no folder. Add them to a class, or drop them on one.`,
  /** @param {number} number @param {string} names */
  trainOwnNoPictures: (number, names) =>
    `${count(number)} files could not be read as pictures: ${names}. The others were added.`,
  /** @param {string} names */
  trainOwnNoSounds: (names) => `No sounds that this browser can read: ${names}.`,
  /** @param {number} number */
  trainOwnAdding: (number) => `Adding: ${examples(number)}…`,
  /** @param {number} number */
  trainOwnAdded: (number) => `${examples(number)} added.`,
  /** @param {number} number */
  trainOwnFull: (number) =>
    `The browser has no room for more: ${examples(number)} were added, and all that were there are kept. Remove some, or free space on this device.`,
  /** @param {number} left  bytes */
  trainOwnNearlyFull: (left) => `The browser has room for another ${bytes(left)} only.`,
  /** @param {string} why */
  trainOwnNoStore: (why) => `The browser does not keep examples here: ${why}`,
  /** @param {string} why */
  trainOwnFailed: (why) => `That did not work: ${why}`,

  trainOwnNoClass: "There are no classes. Add two or more, with examples of each.",
  /** @param {string} name */
  trainOwnOneClass: (name) => `There is one class alone, “${name}”. Add another to tell it from.`,
  /** @param {string} name */
  trainOwnEmpty: (name) => `The class “${name}” has no examples. Add some, or remove the class.`,
  /** @param {number} number */
  trainOwnDamaged: (number) =>
    `${examples(number)} could not be read any more, and ${number === 1 ? "is" : "are"} left out.`,
  /** @param {number} done @param {number} total */
  trainOwnReading: (done, total) => `Reading your examples: ${count(done)} of ${count(total)}`,
};
