// @ts-check
/** Chinese texts of the Train view: settings, a run, the list of runs. */

import { bytes, count, percent } from "../../../../shared/format.js";
import { seconds } from "../../seconds.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  trainTitle: "训练一个网络",
  trainLead:
    "网络就在这个标签页里、在您自己的机器上学习：按“开始”看它学。除非您选择另一台机器，一切都不会离开这个标签页。",
  trainData: "数据",
  trainNetwork: "网络",
  trainOptions: "怎样学习",
  trainPause: "暂停",
  trainStep: "一步",
  trainStop: "停止",
  trainFixed: "学习时设置保持不变。要更改，请先暂停。",
  trainProgress: "已学",
  trainLoss: "损失",
  trainAccuracy: "准确率",
  trainValid: "测试准确率",
  trainRate: "每秒样本数",
  trainLr: "学习率",
  trainLeft: "剩余时间",
  trainCurve: "损失和准确率曲线",
  trainRuns: "训练记录",
  trainDifferences: "不同的设置",
  trainOpenRun: "打开训练记录文件",
};

/** @type {typeof import("../en/run.js").texts} */
export const texts = {
  trainStart: "开始",
  trainResume: "继续",
  trainNeeds: (size, licence) =>
    `只需下载一次，${bytes(size)}；之后可离线使用。许可证：${licence}。`,
  trainNoData: "本站没有可供学习的数据。",
  trainNoList: (why) => `未能取得数据列表：${why}`,
  trainIdle: "按“开始”，网络的学习过程会显示在这里。",
  trainStarting: "Python 正在启动，随后开始训练…",
  trainOpening: "正在打开数据和网络…",
  trainFetching: (done, total) =>
    `正在下载数据：${bytes(done)}${total === null ? "" : ` / ${bytes(total)}`}`,
  trainRunning: (epoch, epochs, step, steps) =>
    `正在学习：第 ${epoch} 轮，共 ${epochs} 轮；第 ${count(step)} 步，共 ${count(steps)} 步`,
  trainPausing: "这一步之后暂停…",
  trainPaused: (step, steps) =>
    `已在第 ${count(step)} 步（共 ${count(steps)} 步）后暂停，并已保存。`,
  trainStopped: (step) => `已在第 ${count(step)} 步后停止，并已保存。`,
  trainDone: (step) => `学完了，共 ${count(step)} 步。`,
  trainNotBegun: "什么也没有学到。",
  trainFailed: (why) => `训练失败：${why}`,
  trainFailedAfter: (step) => `在第 ${count(step)} 步之后失败。`,
  trainLossKept: (lost, step) =>
    `第 ${count(lost)} 步的损失不是有限的数。网络已回到第 ${count(step)} 步，即最近一个完好的检查点，并已保存。请降低学习率，或检查数据。`,
  trainLossLost: (lost) =>
    `第 ${count(lost)} 步的损失不是有限的数，在此之前还没有检查点。请降低学习率，或检查数据，然后重新开始。`,
  trainFull:
    "浏览器的存储空间已满。已保存的都还在，网络也还在内存里：请删除一些训练记录，然后继续。",
  trainUnkept: (why) => `浏览器无法保存这次训练：${why}`,
  trainBatchTooLarge: "批大小超过了可供学习的样本数。请减小批大小，或增加数据。",
  trainDataDamaged:
    "这些数据的文件已损坏，或标签超出了范围。请选择其他数据；网站的维护者可以修复这些文件。",
  trainAllDamaged: "这次训练的检查点全部损坏。请删除它，重新开始一次。",
  trainNoRunFile: (name) => `“${name}”不是训练记录，或已损坏。什么都没有改变。`,
  trainHidden: "这个标签页刚才在后台，浏览器会让后台页面变慢；没有因此丢失什么。",
  trainBegun: (parameters, samples) =>
    `${count(parameters)} 个参数，每轮从 ${count(samples)} 个样本学习。`,
  trainSeconds: (left) => seconds(left),
  trainCount: "样本数（空为全部）",
  trainBatch: "批大小",
  trainEpochs: "轮数",
  trainOptimizer: "优化器",
  trainRateField: "学习率",
  trainMomentum: "动量",
  trainDecay: "权重衰减",
  trainSchedule: "学习率的变化",
  trainOnecycle: "一个周期",
  trainCosine: "余弦",
  trainConstant: "不变",
  trainSeed: "随机种子",
  trainMirror: "镜像图片",
  trainShift: "平移图片",
  trainRotate: "旋转图片",
  trainElsewhere: "这个训练正在另一个标签页里进行。请在那里暂停它，或开始另一个。",
  trainNoRuns: "还没有保存的训练记录。",
  trainShow: "打开",
  trainRemove: "删除",
  trainShare: "保存为文件",
  trainCompare: "比较",
  trainName: "训练记录的名称",
  trainSetting: "设置",
  trainDataName: "数据",
  trainAugment: "图片的变化",
  trainRun: (step, epoch, epochs, state) =>
    `${state}，${count(step)} 步，${epoch} 轮（共 ${epochs} 轮）`,
  trainRight: (share) => `· 测试准确率 ${percent(share)}`,
  trainDamagedRun: (run) => `训练记录 ${run} 已损坏，无法读取。`,
  trainLossCurve: "损失",
  trainAccuracyCurve: "准确率",
  trainSteps: "步数",
  trainMeasured: (name) => `${name}，测试数据`,
  trainOpened: (name) => `已打开 ${name}。`,
  trainDamaged: (checkpoints) => `略过了损坏的检查点：${checkpoints}。训练从更早的一个继续。`,
  trainRoom: (room) => `浏览器只给本页留有 ${bytes(room)} 空间。请在占满之前删除一些训练记录。`,
  trainStatePaused: "已暂停",
  trainStateDone: "已完成",
  trainStateFailed: "失败",
};
