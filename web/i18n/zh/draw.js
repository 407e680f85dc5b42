// @ts-check
/** Chinese texts of the Draw view. */

/** @type {typeof import("../en/draw.js").draw} */
export const draw = {
  penDown: "落笔",
  penUp: "抬笔",
  digitRead: (digit) => `数字是 ${digit}`,
  numberRead: (number) => `这个数是 ${number}`,
  digitFailed: (why) => `无法辨认这个数字：${why}`,
  noCanvas: "这个浏览器没有为页面提供 2-D 画布，手写和照片都需要它。",
};
