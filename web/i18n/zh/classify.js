// @ts-check
/** Chinese texts of the Classify view. */

/** @type {typeof import("../en/classify.js").classify} */
export const classify = {
  photoFailed: (name, why) => `无法识别“${name}”：${why}`,
  unnamed: (index) => `第 ${index} 类`,
  unknownModel: (name) => `这里没有名为“${name}”的模型，改用下面这个。`,
  emptyPhoto: (name) => `“${name}”是空文件（0 字节）。请换一张照片。`,
  notPhoto: (name, type) =>
    `“${name}”${type && `（${type}）`}不是这个浏览器能打开的图片。请试试 JPEG、PNG 或 WebP。`,

  copyJson: "复制为 JSON",
  copyCsv: "复制为 CSV",
  goOn: "继续",
  noFile: "拖来的不是文件。请先保存图片，再拖放保存的文件。",
  noPictures: (folders) => `文件夹“${folders}”里没有图片。`,
  galleryCount: (done, total) => `${done} / ${total}`,
  galleryBegun: (total) => `正在逐一识别 ${total} 张图片。`,
  galleryDone: (good, bad) =>
    `已识别 ${good} 张图片${bad ? `，${bad} 张未能识别` : ""}。点一张可看大图。`,
  galleryStopped: (left) => `已停止：还剩 ${left} 张图片。`,
  galleryMost: (given, most) => `共 ${given} 个文件，只取前 ${most} 个。`,

  samples: {
    chelsea: "猫",
    coffee: "咖啡",
    flower: "花",
    china: "宫殿",
    rocket: "火箭",
    astronaut: "宇航员",
    camera: "摄影师",
    brick: "墙",
  },
  creditBy: (author) => `，作者 ${author}，`,
  publicDomain: "公有领域",

  cameraFile: (number) => `相机 ${number}.jpg`,
  cameraRefused: "浏览器不允许这个页面使用相机。请在地址栏旁允许，然后重试。",
  cameraMissing: "没有找到相机。请改为选择照片。",
  cameraBusy: "无法使用相机：可能正被其他程序占用。请关闭它，然后重试。",
  cameraEnded: "相机已停止。请关闭后重试。",
  cameraFailed: (why) => `无法使用相机：${why}`,

  heatShow: "哪里最要紧？",
  heatHide: "隐藏热图",
  heatRuns: (runs) => `正在用灰色方块依次遮住图片的 ${runs} 处。`,
  heatPlaces: [
    ["左上方", "上方", "右上方"],
    ["左侧", "中间", "右侧"],
    ["左下方", "下方", "右下方"],
  ],
  heatFound: (label, where, before, after) =>
    `对“${label}”来说，${where}最要紧：遮住那里，概率从 ${before} 降到 ${after}。`,
  heatNowhere: (label) => `对“${label}”来说，没有哪一处特别要紧：遮住任何一处变化都很小。`,
  heatFailed: (why) => `无法找出哪里要紧：${why}`,

  heicPhoto: (name) => `“${name}”是 HEIC 图片，这个浏览器打不开。请先另存为 JPEG。`,
  damagedPhoto: (name, format) => `“${name}”的开头是 ${format}，但无法解码：文件已损坏或不完整。`,
  largePhoto: (name, width, height, most) =>
    `“${name}”太大：${width} × ${height} 像素。最多能打开 ${most} 百万像素的图片，请先缩小。`,
};
