// @ts-check
/** Chinese texts about files that the visitor chooses. */

import { count } from "../../shared/format.js";

/** @type {typeof import("../en/files.js").files} */
export const files = {
  noCanvas: "这个浏览器没有为页面提供 2-D 画布，手写和照片都需要它。",
  emptyPhoto: (name) => `“${name}”是空文件（0 字节）。请换一张照片。`,
  notPhoto: (name, type) =>
    `“${name}”${type && `（${type}）`}不是这个浏览器能打开的图片。请试试 JPEG、PNG 或 WebP。`,
  noFile: "拖来的不是文件。请先保存图片，再拖放保存的文件。",
  noPictures: (folders) => `文件夹“${folders}”里没有图片。`,

  heicPhoto: (name) => `“${name}”是 HEIC 图片，这个浏览器打不开。请先另存为 JPEG。`,
  damagedPhoto: (name, format) => `“${name}”的开头是 ${format}，但无法解码：文件已损坏或不完整。`,
  largePhoto: (name, width, height, most) =>
    `“${name}”太大：${width} × ${height} 像素。最多能打开 ${most} 百万像素的图片，请先缩小。`,
  openDoesNotFit: (value, type) => `${value} 超出了 ${type} 的范围`,
  openNotNumber: (part, type) => `“${part.slice(0, 40)}”不是 ${type} 类型的数字`,
  openCount: (wanted, given) => `需要 ${count(wanted)} 个数字，给了 ${count(given)} 个`,
  openNotNpy: (name) => `“${name}”不是完整的 .npy 文件`,
  openNpyType: (name) => `“${name}”的元素类型无法在这里读取`,
  openNotLabels: (name) => `“${name}”里没有类别名称：应为每行一个，或 JSON 列表或对象。`,
};
