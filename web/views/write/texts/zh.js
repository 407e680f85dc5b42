// @ts-check
/** Chinese texts of the Write view. */

import { bytes, count, megabytes } from "../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  writeTitle: "用语言模型写作",
  writeLead: "语言模型就在这个标签页里回答。除非您选择另一台机器，您输入的内容不会离开这里。",
  writeChoose: "选择一个 GGUF 文件",
  writeDrop: "或拖放到页面任意位置",
  writeModelLabel: "模型",
  writeHubName: "Hugging Face hub 上的名称",
  writeFind: "列出文件",
  writeHubFile: "文件",
  writeProgress: "已下载",
  writeCancel: "取消",
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
  writeNew: "新建",
  writeDelete: "删除",
  writeClose: "关闭",
  writeConsidered: "网络在这里考虑过什么",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  writeNone: "还没有选择模型。",
  writeFromHub: "来自 Hugging Face hub…",
  writeFromFile: "一个 GGUF 文件…",
  writeChosen: (name, size, memory) => `${name}，${bytes(size)}。大约需要 ${bytes(memory)} 内存。`,
  writeToFetch: (name, size, memory) =>
    `${name}：需下载 ${bytes(size)}（以前保存过则不必）。大约需要 ${bytes(memory)} 内存。`,
  writeFetching: (file, done, total) =>
    `正在下载 ${file}：${total === null ? bytes(done) : `${megabytes(done)} / ${bytes(total)}`}`,
  writeCancelled: "已取消。已下载的部分会保留，下次载入时从那里继续。",
  writeLoading: (name) => `正在读取 ${name}…`,
  writeLoaded: (name, family, parameters, context, converses) =>
    `${name}：${family}，${count(parameters)} 个参数，文本最长 ${count(context)} 个词元。${
      converses ? "" : "它没有学过对话：它会接着您的文字写下去。"
    }`,
  writeNotLoaded: (name, why) => `无法使用 ${name}：${why}`,
  writeNotGguf: "语言模型是以 .gguf 结尾的文件。",
  writeSized: (name, size) => `${name}，${bytes(size)}`,
  writeFinding: (name) => `正在向 hub 查询 ${name}…`,
  writeNotHubName: "hub 上的名称由所有者和模型组成：owner/name。",
  writeNotAtHub: (name) => `hub 上没有公开的模型 ${name}。`,
  writeHubRefused: (status) => `hub 的回答是 ${status}。请稍后再试。`,
  writeNoHub: "无法连接 hub。请检查网络连接。",
  writeNoGguf: (name) => `${name} 没有 GGUF 文件。`,
  writeNoList: (why) => `缺少本站的模型列表：${why}`,
  writeMemory: "浏览器的内存不够。请关闭其他标签页，或选择更小的模型、更短的文字。",
  writeFailed: (why) => `回答失败：${why}`,
  writeRate: (tokens, rate) =>
    rate === null ? `${tokens} 个词元` : `${tokens} 个词元，每秒 ${rate.toFixed(1)} 个`,
  writeNothing: "模型没有回答任何内容。",
  writeUnnamed: "新的对话",
  writeUndo: "撤销",
  writeDeleted: (name) => `已删除：“${name}”。`,
  writeDamaged: (damaged) => `浏览器存储中有 ${damaged} 个对话无法读取，已原样保留。`,
  writeElsewhere: "另一个标签页改动了这个对话：您的版本已另存为单独的对话。",
  writeFull: "浏览器的存储空间已满：除非您删除其他对话，否则这个对话在关闭页面后就会消失。",
  writeRefused: "浏览器不为此页面保存任何内容：对话在关闭页面后就会消失。",
  writePieces: "回答；用方向键逐个查看组成它的部分",
  writePiece: (piece, best, share) =>
    best ? `写出的是“${piece}”。最可能的是“${best}”，${share}。` : `写出的是“${piece}”。`,
  writeLoad: "载入模型",
  writeEdit: "修改",
  writeAgain: "重新回答",
  writeYou: "您",
  writeModel: "模型",
};
