// @ts-check
/** Chinese texts of the Classify view. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  classifyTitle: "选一张照片",
  classifyLead:
    "一个认识一千种事物的网络会说出照片里是什么。除非您选择另一台机器，照片不会离开这个标签页。",
  choose: "选择照片",
  orDrop: "或拖放、粘贴到页面任意位置",
  results: "可复制的结果",
  heatLeast: "无关紧要",
  heatMost: "最要紧",
  camera: "拍一张照片",
  shoot: "拍照",
  gallery: "图片",
  samples: "或者试试这些",
  credits: "照片的作者",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  photoFailed: (name, why) => `无法识别“${name}”：${why}`,
  unnamed: (index) => `第 ${index} 类`,
  unknownModel: (name) => `这里没有名为“${name}”的模型，改用下面这个。`,
  goOn: "继续",
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
};
