// @ts-check
/** Chinese texts of the Find view. */

import { count } from "../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  findTitle: "按意思查找",
  findLead:
    "用您自己的话问您自己的文档。文档就在这个标签页里读取和检索；除非您选择另一台机器，内容不会离开这里。",
  findChoose: "选择文档",
  findDrop: "文本、Markdown、HTML 或 PDF；也可以拖放到页面任意位置",
  findPaste: "粘贴文本",
  findAdd: "添加",
  findStop: "停止",
  findContinue: "继续",
  findQuery: "您想找什么？",
  findGo: "查找",
  findResults: "找到的段落",
  findTexts: "文档",
  findClear: "全部移除",
};

/** @param {number} passages */
const some = (passages) => `${count(passages)} 个段落`;

/** Why a file failed, without its name, with which Python begins. @param {string} name @param {string} why */
const reason = (name, why) => (why.startsWith(`${name}: `) ? why.slice(name.length + 2) : why);

/** @type {typeof import("./en.js").texts} */
export const texts = {
  findNone: "还没有文档。",
  findWaits: "文档在等待模型：请在下面选择一个。",
  findRestoring: "正在打开索引…",
  findOpening: "正在打开模型…",
  findReading: (name, more) =>
    `正在读取 ${name}…${more === 0 ? "" : `还有 ${count(more)} 个文档在等待。`}`,
  findPages: (name, number, pages) =>
    `正在读取 ${name}：第 ${count(number)} 页，共 ${count(pages)} 页…`,
  findCutting: (name, part) => `正在把 ${name} 分成段落：${Math.floor(part * 100)} %…`,
  findEmbedding: (done, total, rate) =>
    `正在建立索引：${count(done)} / ${some(total)}${rate === 0 ? "" : `，每秒 ${rate.toFixed(1)} 个`}。${done ? "现在就可以提问。" : ""}`,
  findReady: (passages, files) => `可以查找 ${count(files)} 个文档的 ${some(passages)}。`,
  findPartly: (done, total) => `可以查找 ${count(done)} / ${some(total)}。`,
  findAgain: (passages) =>
    `这个索引来自另一个模型，或已损坏：正在重新为 ${some(passages)}建立索引。`,
  findWasDamaged: (files) => `${files} 个文档保存的索引已损坏。其余部分会重新建立索引。`,
  findNotKept: (why) => `浏览器没有保存索引：${why}。索引在关闭这个标签页前有效。`,
  findFull: "存储空间已满",
  findFailed: (name, why) => `${name}：${reason(name, why)}`,
  findReason: (name, why) => reason(name, why),
  findLocked: "它有密码保护",
  findDamaged: "它不是 PDF 文件，或已损坏",
  findScanned: "它的页面只有图片，没有文字，例如扫描件",
  findStopped: (why) => `索引已停止：${why}`,
  findGuessed: (encoding) => `不是 UTF-8，按 ${encoding} 读取`,
  findPassages: some,
  findPage: (number) => `第 ${count(number)} 页`,
  findLooking: "正在查找…",
  findNothing: "还没有可以查找的内容。",
  findFound: (question, passages, time) =>
    `“${question}”：最接近的 ${some(passages)}，用时 ${time}`,
  findNotFound: (why) => `查找失败：${why}`,
  findRemove: (name) => `移除 ${name}`,
  findPasted: (start) => `粘贴的文本：${start}`,
};
