// @ts-check
/** Chinese texts of the Write view. */

import { count } from "../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  writeTitle: "用语言模型写作",
  writeLead: "语言模型就在这个标签页里回答。除非您选择另一台机器，您输入的内容不会离开这里。",
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
  writeLoaded: (name, family, parameters, context, converses) =>
    `${name}：${family}，${count(parameters)} 个参数，文本最长 ${count(context)} 个词元。${
      converses ? "" : "它没有学过对话：它会接着您的文字写下去。"
    }`,
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
  writeEdit: "修改",
  writeAgain: "重新回答",
  writeYou: "您",
  writeModel: "模型",
};
