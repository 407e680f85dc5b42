// @ts-check
/** Chinese texts of the Train view: labels reviewed. */

import { count } from "../../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/review.js").texts} */
export const texts = {
  trainReview: "待审查的标签",
  trainReviewHow:
    "网络会找出它怀疑的标签和重复的图片。您的决定从下一次训练起生效。按键：方向键选择，R 改标签，X 剔除，K 保留，U 撤销。",
  trainReviewBegin: "审查标签",
  trainReviewStop: "停止",
  trainReviewUndo: "撤销",
  trainReviewMore: "显示更多",
  trainReviewing: (done, total) => `正在查找：${Math.floor((100 * done) / Math.max(1, total))} %`,
  trainReviewFound: (doubted, duplicated) =>
    `${count(doubted)} 个标签可疑，${count(duplicated)} 个重复。`,
  trainReviewNone: "没有可疑的标签，也没有重复。",
  trainReviewFailed: (why) => `无法审查标签：${why}`,
  trainCounts: "每一类的样本数",
  trainDoubt: (label, guess, share) => `标签是 ${label}；更像 ${guess}（${share}）`,
  trainTwin: (label, share, other) =>
    label === other
      ? `标签是 ${label}；与另一个 ${other} 相似 ${share}`
      : `标签是 ${label}；与一个标签为 ${other} 的相似 ${share}`,
  trainRelabel: (label) => `改为：${label}`,
  trainThrow: "剔除",
  trainKeep: "保留",
  trainOther: "其他类…",
  trainRelabelled: (label) => `现在是 ${label}。`,
  trainThrown: "已剔除。",
  trainKept: "保持原样。",
  trainUndone: "已撤销。",
  trainChangesUnkept: "浏览器无法保存这项更改：存储已满或被拒绝。它在关闭标签页之前有效。",
  trainChangesDamaged: "对这些数据标签所作的决定已损坏，不再生效。",
};
