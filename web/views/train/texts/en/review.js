// @ts-check
/** English texts of the Train view: labels reviewed. */

import { count } from "../../../../shared/format.js";

export const texts = {
  trainReview: "Labels to review",
  trainReviewHow:
    "The network looks for labels that it doubts, and for pictures that are there twice. What you decide counts from the next run on. Keys: arrows choose, R relabels, X throws out, K keeps, U undoes.",
  trainReviewBegin: "Review the labels",
  trainReviewStop: "Stop",
  trainReviewUndo: "Undo",
  trainReviewMore: "Show more",

  /** @param {number} done @param {number} total */
  trainReviewing: (done, total) => `Looking: ${Math.floor((100 * done) / Math.max(1, total))} %`,

  /** @param {number} doubted @param {number} duplicated */
  trainReviewFound: (doubted, duplicated) =>
    `${count(doubted)} labels in doubt, ${count(duplicated)} duplicates.`,

  trainReviewNone: "No label is in doubt, and nothing is there twice.",

  /** @param {string} why */
  trainReviewFailed: (why) => `The labels could not be reviewed: ${why}`,

  trainCounts: "Samples of each class",

  /** @param {string} label @param {string} guess @param {string} share */
  trainDoubt: (label, guess, share) => `Labelled ${label}; rather ${guess} (${share})`,

  /** @param {string} label @param {string} share @param {string} other */
  trainTwin: (label, share, other) =>
    label === other
      ? `Labelled ${label}; ${share} like another ${other}`
      : `Labelled ${label}; ${share} like one labelled ${other}`,

  /** @param {string} label */
  trainRelabel: (label) => `Relabel: ${label}`,

  trainThrow: "Throw out",
  trainKeep: "Keep",
  trainOther: "Another class…",

  /** @param {string} label */
  trainRelabelled: (label) => `Now ${label}.`,

  trainThrown: "Thrown out.",
  trainKept: "Kept as it is.",
  trainUndone: "Undone.",
  trainChangesUnkept:
    "The browser cannot keep this change: its storage is full or refused. It counts until the tab is closed.",
  trainChangesDamaged:
    "What was decided about the labels of these data is damaged, and no longer counts.",
};
