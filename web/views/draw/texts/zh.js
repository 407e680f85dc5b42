// @ts-check
/** Chinese texts of the Draw view. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  drawTitle: "画一个数字",
  drawLead: "您一边画，一个小型神经网络一边辨认。并排写几个，就是一个数。",
  pad: "手写板",
  padPrompt: "在这里画 0 到 9",
  padHow: "鼠标、手指、触控笔或键盘",
  padKeys: "方向键移动，按住空格键书写；回车键落笔和抬笔",
  tools: "工具",
  undo: "撤销",
  undoHow: "撤销（Ctrl+Z）",
  redo: "重做",
  redoHow: "重做（Shift+Ctrl+Z）",
  brush: "笔画粗细",
  thin: "细",
  thinHow: "细画笔",
  medium: "中",
  mediumHow: "中等画笔",
  thick: "粗",
  thickHow: "粗画笔",
  eraser: "橡皮擦",
  eraserHow: "橡皮擦：涂过的地方会被擦掉",
  clear: "清除",
  digit: "数字",
  number: "数",
  seen: "网络所看到的您的手写",
  seenCaption: "网络看到的样子",
  digitBars: "每个数字的概率",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  digitRead: (digit) => `数字是 ${digit}`,
  signRead: (name) => `这是“${name}”`,
  numberRead: (number) => `这个数是 ${number}`,
  digitFailed: (why) => `无法辨认这个数字：${why}`,
};
