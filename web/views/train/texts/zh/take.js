// @ts-check
/** Chinese texts of the Train view: what is taken home. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/take.js").texts} */
export const texts = {
  trainTake: "带回家",
  trainTakeOnnx: "ONNX",
  trainTakeSafetensors: "权重（safetensors）",
  trainTakePython: "训练它的 Python 程序",
  trainProgram: "重新训练这个网络的程序",
  trainTakeData: "程序所需的数据",
  trainTakeCard: "说明卡（Markdown）",
  trainTaking: "正在写文件…",
  trainTaken: (name, size) => `已保存 ${name}，${size}。`,
  trainNotTaken: (why) => `无法写出文件：${why}`,
};
