// @ts-check
/** Chinese texts of the toy view. */

export const page = {
  toToy: "玩具",
  toyTitle: "把一个数加倍",
  toyNumber: "数",
  toyDouble: "加倍",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  toyTwice: (twice) => `它的两倍是 ${twice}。`,
};
