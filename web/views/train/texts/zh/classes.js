// @ts-check
/** Chinese texts of the Train view: the visitor's own classes and texts. */

import { bytes, count } from "../../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/classes.js").texts} */
export const texts = {
  trainOwnSigns: "您自己的符号",
  trainOwnThings: "您自己的图片",
  trainOwnNoises: "您自己的声音",
  trainOwnWords: "您自己的文本",

  trainOwnHere: "您提供的内容只保存在此浏览器中。",
  trainOwnName: "新类别",
  trainOwnAdd: "添加类别",
  trainOwnFolder: "添加含子文件夹的文件夹",
  trainOwnZip: "添加含文件夹的 zip",
  trainOwnStop: "停止",
  trainOwnUndo: "撤销",
  trainOwnClose: "关闭",

  trainOwnCount: (number) => `${count(number)} 个样本`,
  trainOwnRemove: "移除",
  trainOwnRemoveClass: (name) => `移除类别“${name}”`,
  trainOwnRemoved: (name, number) => `已移除类别“${name}”及其 ${count(number)} 个样本。`,
  trainOwnDrop: (name) => `移除“${name}”的这个样本`,
  trainOwnDropped: (name) => `已移除“${name}”的一个样本。`,

  trainOwnPictures: "添加图片",
  trainOwnSounds: "添加声音",
  trainOwnFilesOf: (name) => `“${name}”的文件`,
  trainOwnCamera: "相机",
  trainOwnCameraFor: (name) => `“${name}”的图片`,
  trainOwnShoot: "拍照",
  trainOwnTaken: (number) => `已拍 ${count(number)} 张`,
  trainOwnCameraRefused: "无法使用相机：请在浏览器设置中允许本页面使用，或选择文件。",
  trainOwnNoCamera: "没有找到相机。请选择文件。",
  trainOwnCameraEnded: "相机已被关闭。请关闭此窗口后重新打开。",
  trainOwnRecord: "录音",
  trainOwnRecorded: "结束录音",
  trainOwnMicrophoneRefused: "无法使用麦克风：请在浏览器设置中允许本页面使用，或选择文件。",
  trainOwnNoMicrophone: "没有找到麦克风。请选择文件。",

  trainOwnDrawSigns: "画",
  trainOwnDraw: (name) => `画一个“${name}”并保留；画几个，每个略有不同。`,
  trainOwnPad: "画符号的画板",
  trainOwnPadKeys: "鼠标、手指或触控笔。键盘：方向键移动，按住空格键书写；回车键落笔和抬笔。",
  trainOwnKeep: "保留",
  trainOwnClear: "清除",
  trainOwnKept: (name, number) => `“${name}”有 ${count(number)} 个样本。`,

  trainOwnText: "要学习的文本",
  trainOwnTextFile: "选择文本文件",
  trainOwnLetters: (number, different) =>
    `${count(number)} 个字符，其中 ${count(different)} 个不同`,
  trainOwnShortText: (number, least) =>
    `文本有 ${count(number)} 个字符；至少需要 ${count(least)} 个。`,
  trainOwnLongText: (name, most) => `“${name}”太大：最多 ${count(most)} MB。`,
  trainOwnNoText: (name) => `“${name}”不是 UTF-8 文本。`,

  trainOwnNoName: "请先写下类别的名称。",
  trainOwnTwice: (name) => `已有类别“${name}”。`,
  trainOwnTooMany: (most) => `最多可以有 ${count(most)} 个类别。`,
  trainOwnWhere: "请先选择一个类别，再向它添加文件。",
  trainOwnUnplaced: (number) =>
    `${count(number)} 张图片不在任何文件夹中。请添加到某个类别，或拖放到它上面。`,
  trainOwnNoPictures: (number, names) =>
    `${count(number)} 个文件无法作为图片读取：${names}。其余的已添加。`,
  trainOwnNoSounds: (names) => `此浏览器无法读取这些声音：${names}。`,
  trainOwnAdding: (number) => `正在添加：${count(number)} 个样本…`,
  trainOwnAdded: (number) => `已添加 ${count(number)} 个样本。`,
  trainOwnFull: (number) =>
    `浏览器没有更多空间：已添加 ${count(number)} 个样本，原有的都保留着。请移除一些，或释放此设备的空间。`,
  trainOwnNearlyFull: (left) => `浏览器只剩 ${bytes(left)} 的空间。`,
  trainOwnNoStore: (why) => `浏览器不在此保存样本：${why}`,
  trainOwnFailed: (why) => `没有成功：${why}`,

  trainOwnNoClass: "还没有类别。请添加两个或更多，每个都要有样本。",
  trainOwnOneClass: (name) => `只有一个类别“${name}”。请再添加一个，以便区分。`,
  trainOwnEmpty: (name) => `类别“${name}”没有样本。请添加一些，或移除该类别。`,
  trainOwnDamaged: (number) => `${count(number)} 个样本已无法读取，未被使用。`,
  trainOwnReading: (done, total) => `正在读取您的样本：${count(done)} / ${count(total)}`,
};
