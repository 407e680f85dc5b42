// @ts-check
/** Chinese texts of the Write view. */

import { bytes, count } from "../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  writeTitle: "用语言模型写作",
  writeLead: "语言模型就在这个标签页里回答。除非您选择另一台机器，您输入的内容不会离开这里。",
  writeChoose: "选择一个 GGUF 文件",
  writeDrop: "或拖放到页面任意位置",
  writeLoad: "载入模型",
  writeOptions: "选项",
  writeSystem: "系统提示",
  writeTemperature: "温度",
  writeTopP: "Top-p",
  writePenalty: "重复惩罚",
  writeMost: "回答最多的词元数",
  writeSeed: "随机种子",
  writeTalk: "对话",
  writeInput: "您的消息",
  writeSend: "发送",
  writeStop: "停止",
  writeNew: "新的对话",
  writeConsidered: "网络在这里考虑过什么",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  writeNone: "还没有选择模型。",
  writeChosen: (name, size, memory) => `${name}，${bytes(size)}。大约需要 ${bytes(memory)} 内存。`,
  writeLoading: (name) => `正在读取 ${name}…`,
  writeLoaded: (name, family, parameters, context) =>
    `${name}：${family}，${count(parameters)} 个参数，文本最长 ${count(context)} 个词元。`,
  writeNotLoaded: (name, why) => `无法使用 ${name}：${why}`,
  writeNotGguf: "语言模型是以 .gguf 结尾的文件。",
  writePlain: "这个模型没有学过对话：它会接着您的文字写下去。",
  writeFailed: (why) => `回答失败：${why}`,
  writeRate: (tokens, rate) =>
    rate === null ? `${tokens} 个词元` : `${tokens} 个词元，每秒 ${rate.toFixed(1)} 个`,
  writeEdit: "修改",
  writeAgain: "重新回答",
  writeYou: "您",
  writeModel: "模型",
};
