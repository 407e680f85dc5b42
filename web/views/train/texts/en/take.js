// @ts-check
/** English texts of the Train view: what is taken home. */

export const texts = {
  trainTake: "Take it home",
  trainTakeOnnx: "ONNX",
  trainTakeSafetensors: "Weights (safetensors)",
  trainTakePython: "The Python that did it",
  trainProgram: "The program that trains this network again",
  trainTakeData: "The data that it needs",
  trainTakeCard: "Card (Markdown)",
  trainTaking: "Writing the file…",

  /** @param {string} name @param {string} size */
  trainTaken: (name, size) => `${name} was saved, ${size}.`,

  /** @param {string} why */
  trainNotTaken: (why) => `The file could not be written: ${why}`,
};
