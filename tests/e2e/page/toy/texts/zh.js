// @ts-check
/** Chinese texts of the toy view. */

export const page = {
  toyTitle: "把一个数加倍",
  toyNumber: "数",
  toyDouble: "加倍",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  toyTwice: (twice) => `它的两倍是 ${twice}。`,
};
