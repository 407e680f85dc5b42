// @ts-check
/** Chinese texts of the choice of a model. */

import { bytes, megabytes } from "../../../shared/format.js";

/** @param {number} memory @param {string} licence  "" if nobody says it */
const needs = (memory, licence) =>
  `大约需要 ${bytes(memory)} 内存。${licence ? `许可证：${licence}。` : ""}`;

/** @type {typeof import("./en.js").texts} */
export const texts = {
  choiceModel: "模型",
  choiceNone: "还没有选择模型。",
  choiceHub: "来自 Hugging Face hub…",
  choiceFile: "一个 GGUF 文件…",
  choiceFiles: "您自己的文件…",
  choiceHubName: "Hugging Face hub 上的名称",
  choiceFind: "列出文件",
  choiceHubFile: "文件",
  choiceChoose: "选择一个 GGUF 文件",
  choiceChooseFiles: "选择 config.json、tokenizer.json 和 model.safetensors",
  choiceDrop: "或拖放到页面任意位置",
  choiceProgress: "已下载",
  choiceCancel: "取消",
  choiceLoad: "载入模型",
  choiceChosen: (name, size, memory, licence) =>
    `${name}，${bytes(size)}。${needs(memory, licence)}`,
  choiceToFetch: (name, size, memory, licence) =>
    `${name}：需下载 ${bytes(size)}（以前保存过则不必）。${needs(memory, licence)}`,
  choiceFetching: (file, done, total) =>
    `正在下载 ${file}：${total === null ? bytes(done) : `${megabytes(done)} / ${bytes(total)}`}`,
  choiceCancelled: "已取消。已下载的部分会保留，下次载入时从那里继续。",
  choiceLoading: (name) => `正在读取 ${name}…`,
  choiceLoaded: (name) => `${name} 已载入。`,
  choiceNotLoaded: (name, why) => `无法使用 ${name}：${why}`,
  choiceUnfit: (endings) => `模型的文件以 ${endings} 结尾。`,
  choiceSized: (name, size) => `${name}，${bytes(size)}`,
  choiceFinding: (name) => `正在向 hub 查询 ${name}…`,
  choiceNotHubName: "hub 上的名称由所有者和模型组成：owner/name。",
  choiceNotAtHub: (name) => `hub 上没有公开的模型 ${name}。`,
  choiceHubRefused: (status) => `hub 的回答是 ${status}。请稍后再试。`,
  choiceNoHub: "无法连接 hub。请检查网络连接。",
  choiceNoFiles: (name, kind) =>
    `${name} 没有${kind === "gguf" ? " GGUF 文件" : "带 safetensors 的 config.json"}。`,
  choiceNoList: (why) => `缺少本站的模型列表：${why}`,
  choiceMemory: "浏览器的内存不够。请关闭其他标签页，或选择更小的模型、更短的文字。",
};
