// @ts-check
/** Chinese texts of the Train view: what a run has learnt, and answers of its network. */

import { count } from "../../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/insight.js").texts} */
export const texts = {
  trainConfusion: "混淆矩阵",
  trainConfusionHow: "每一行是一个类别，每一列是网络把它认作的类别",
  trainTrue: "实际 ↓，认作 →",
  trainCell: (label, predicted, samples) =>
    label === predicted
      ? `${label}，认对：${count(samples)} 个样本`
      : `${label}，被认作 ${predicted}：${count(samples)} 个样本`,
  trainSample: (label, predicted, share) =>
    label === predicted ? `${label}（${share}）` : `${label}，被认作 ${predicted}（${share}）`,
  trainSamplesFailed: (why) => `无法显示样本：${why}`,
  trainLook: "看看它学到了什么",
  trainMistakes: "最严重的错误",
  trainWrong: (wrong) => `测试数据中有 ${count(wrong)} 个样本认错了。`,
  trainNoneWrong: "测试数据全部认对了。",
  trainFilters: "第一层的滤波器",
  trainNorms: "各层梯度的大小",
  trainUse: "试一试",
  trainUseBars: "每一类的概率",
  trainUsePad: "画板；您一边画，网络一边回答",
  trainUseKeys: "鼠标、手指或笔；也可用方向键移动，按住空格画，按回车落笔和提笔。",
  trainUseClear: "清空",
  trainUsePhoto: "选择照片",
  trainUseCamera: "使用相机",
  trainUseSound: "选择声音文件",
  trainUseRecord: "使用麦克风",
  trainUseRecorded: "结束录音",
  trainUseSaid: (label) => `最可能是：${label}`,
  trainWritten: "它写的文字",
  trainWrittenAt: (step) => `第 ${count(step)} 步之后，它自己写道：`,
  trainWriteBegin: "文字的开头",
  trainWrite: "接着写",
  trainWriteStop: "停止写",
  trainNotWritten: (why) => `网络什么也没写：${why}`,
  trainUseFailed: (why) => `网络没有回答：${why}`,
  trainUseDraw: "在“手写”中使用",
  trainUseClassify: "在“识图”中使用",
  trainNoRoom: "浏览器的存储空间放不下了。请删除一些训练记录，再试一次：什么都不会丢失。",
  trainUseNotPlaced: (why) => `无法在别处使用这个网络：${why}`,
};
