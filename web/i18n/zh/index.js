// @ts-check
/**
 * What the page says, in Chinese. The entries are those of en.js.
 */

import { megabytes, milliseconds, picture, tiny } from "../../shared/format.js";
import { open, openPage } from "./open.js";

/** @type {import("../text.js").Text} */
export default {
  page: {
    title: "Tallow · 浏览器标签页里的深度学习",
    description:
      "画一个数字，或选一张照片：神经网络用 Python 搭建，就在这个标签页里，用您自己的显卡运行。",
    unstarted:
      "页面的脚本还没有启动。网络较慢时请稍等；否则请重新加载。如果仍然不行，可能是浏览器太旧，或 JavaScript 模块被阻止。",
    views: "视图",
    toDraw: "手写",
    toClassify: "识图",
    language: "语言",
    drawTitle: "画一个数字",
    drawLead: "您一边画，一个小型神经网络一边辨认。并排写几个，就是一个数。",
    pad: "手写板：画 0 到 9 的数字",
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
    classifyTitle: "选一张照片",
    classifyLead: "一个认识一千种事物的网络会说出照片里是什么。照片不会离开这个标签页。",
    choose: "选择照片",
    orDrop: "或拖放、粘贴到页面任意位置",
    model: "模型",
    classBars: "概率最高的五个类别",
    results: "可复制的结果",
    heatLeast: "无关紧要",
    heatMost: "最要紧",
    camera: "拍一张照片",
    shoot: "拍照",
    cancel: "取消",
    gallery: "图片",
    samples: "或者试试这些",
    credits: "照片的作者",
    engine: "引擎",
    status: "状态",
    progress: "进度",
    install: "安装为应用",
    bootLog: "启动日志",
    device: "计算设备",
    latency: "本次用时",
    both: "WebGPU 与 NumPy",
    agreement: "两种设备的结果一致吗？",
    check: "与 NumPy 核对",
    speed: "各自有多快？",
    compare: "比较 WebGPU 与 NumPy",
    kernels: "内核",
    kernelsAbout: "这个答案是用它们算出来的",
    tuningProgress: "调优进度",
    order: "排序",
    orderRun: "按运行顺序",
    orderTime: "最慢的在前",
    plan: "计划（JSON）",
    trace: "Perfetto 跟踪",
    kernelsTable: "这个答案用到的内核",
    kernel: "内核",
    share: "时间占比",
    time: "时间",
    bytes: "字节 读 → 写",
    slots: "槽位 读 → 写",
    how: "Python 在这个标签页里搭建每个网络，并把它编译成 WebGPU 着色器。您画的和选的一切都不会离开您的电脑。",
    licence: "许可证",
    notices: "声明",
    ...openPage,
  },

  ...open,

  preparing: "准备中…",
  startingAgain: "正在重新启动…",
  startingPython: "正在启动 Python…",
  tryAgain: "重试",

  loading: (done, total) => `正在加载 ${megabytes(done)} / ${megabytes(total)} MB`,
  compiling: (done, total) => `正在编译内核：${done} / ${total}`,
  ready: (kernels) => (kernels ? `就绪 · 已编译 ${kernels} 个内核` : "就绪"),

  penDown: "落笔",
  penUp: "抬笔",
  digitRead: (digit) => `数字是 ${digit}`,
  numberRead: (number) => `这个数是 ${number}`,
  digitFailed: (why) => `无法辨认这个数字：${why}`,
  photoFailed: (name, why) => `无法识别“${name}”：${why}`,
  unnamed: (index) => `第 ${index} 类`,
  unknownModel: (name) => `这里没有名为“${name}”的模型，改用下面这个。`,
  noWebGpu: (reason) => `无法使用 WebGPU：${reason}`,
  unnamedAdapter: "没有透露名称的 WebGPU 适配器",
  noCanvas: "这个浏览器没有为页面提供 2-D 画布，手写和照片都需要它。",
  emptyPhoto: (name) => `“${name}”是空文件（0 字节）。请换一张照片。`,
  notPhoto: (name, type) =>
    `“${name}”${type && `（${type}）`}不是这个浏览器能打开的图片。请试试 JPEG、PNG 或 WebP。`,

  keeping: "正在保存，以便离线使用…",
  kept: "可离线使用",
  /** @param {string} why */
  notKept: (why) => `无法离线使用：${why}`,
  newer: "本页面有新版本。",
  reload: "重新载入新版本",
  keepingFailed: "文件未能保存，下次访问时会再试。",
  noServiceWorker: "此浏览器不为该地址保存文件。",

  nothingToCheck: "请先画一个数字，或选一张照片。",
  aboutCheck: "在两种设备上计算这个答案，并显示最大的差异。",
  aboutCompare: "在两种设备上计算这个答案，并排显示用时。",
  computingBoth: "正在两种设备上计算…",
  checked: (difference, classes) =>
    `${classes} 个概率中最大的差异是 ${tiny(difference)}：` +
    (difference < 1e-3 ? "WebGPU 与 NumPy 一致。" : "超出了舍入误差的范围。"),
  compared: (model, runs) => `${model}：首次用时包括编译；热运行是最多 ${runs} 次的中位数。`,
  runOn: (run, device) => `${run === "first" ? "首次" : "热运行"} · ${device}`,
  bothFailed: (why) => `无法在两种设备上计算：${why}`,

  stages: {
    snapshot: () => "Python 与 Tallow（内存快照）",
    numpySnapshot: () => "Python、Tallow 与 NumPy（内存快照）",
    python: () => "Python 运行时",
    tallow: () => "Tallow",
    numpy: () => "NumPy",
    model: (model) => `模型 ${model}`,
    plan: (model) => `${model} 的计划（以前保存的）`,
    kernels: (model) => `${model} 的内核`,
    keep: (model) => `保存 ${model} 的计划`,
    storage: () => "为以后的访问保存计划",
  },
  kernelsOf: (done, total) => `${done} / ${total}`,
  stageFailed: (why) => `失败：${why}`,
  noStorage: "此浏览器不为这个地址保存任何内容",
  insecure: "没有 https 的地址，浏览器不保存任何内容",
  planDamaged: "以前保存的内容已损坏，将重新生成",

  workerFailed: (why) => `后台线程出错：${why}。`,
  noWorkerFile: (path) => `无法加载 ${path} 或它导入的模块`,
  workerStuck: (seconds) => `后台线程 ${seconds} 秒没有任何回应。`,
  workerGarbled: "后台线程发来的内容无法读取。",
  workerReplaced: (reason) => `${reason}正在重新启动…`,

  gpuLost: "GPU 设备丢失，正在打开另一个…",
  goingOnWithNumpy: "GPU 设备在一分钟内丢失了两次，改用 NumPy 继续…",
  readyWithoutGpu: "就绪 · GPU 设备两次丢失，现由 NumPy 计算",
  withoutGpu: "NumPy：GPU 设备在一分钟内丢失了两次。想再试一次，请选择 WebGPU。",

  startFailed: (why) => `无法准备设备：${why}`,
  modelFailed: (model, why) => `无法加载模型 ${model}：${why}`,
  pythonFailed: (why) => `无法启动 Python：${why}`,
  otherSnapshot: (version) => `快照中的 Tallow 版本是 ${version}。`,
  numpyFailed: (why) => `无法加载 NumPy：${why}`,
  noGpuHere: "这个浏览器没有 WebGPU。",
  gpuNeedsHttps: "WebGPU 只能在安全的页面里使用：https，或本机的地址。",
  noAdapter: "这个浏览器有 WebGPU，但没有找到可用的适配器。",
  adapterRefused: (why) => `WebGPU 适配器拒绝打开设备：${why}`,

  noWebAssembly: "这个浏览器没有 WebAssembly，或禁止本页使用它；没有它就无法运行 Python。",

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

  unreachable: (path) => `无法获取 ${path}：连不上服务器。请检查网络。`,
  missing: (path) => `服务器上没有 ${path}（404）。`,
  refused: (path, status) => `无法获取 ${path}：服务器回答 ${status}。`,
  silent: (path, seconds) => `无法获取 ${path}：服务器 ${seconds} 秒没有响应。`,
  cutOff: (path, bytes) => `${path} 在 ${bytes} 字节后中断。请检查网络。`,
  wrongSize: (path, found, expected) => `${path} 已损坏：有 ${found} 字节，应为 ${expected}。`,
  wrongSum: (path, found, expected) =>
    `${path} 已损坏：它的 sha256 是 ${found}，应为 ${expected}。`,
  notJson: (path) => `${path} 已损坏：它不是 JSON。`,
  noModel: (name, names) => `没有名为 ${name} 的模型。现有：${names}。`,

  noKernelsYet: "画一个数字或选一张照片，这里就会显示它用到的内核。",
  measuring: "测量中…",
  noWgsl: "这一步由 NumPy 计算，没有 WGSL。",
  copy: "复制",
  copied: "已复制",
  copyByKeys: "已选中，请用键盘复制",
  workgroups: (groups) => `${groups} 个工作组`,
  profileFailed: (why) => `无法测量内核用时：${why}`,
  profiled: ({ kernels, milliseconds: ms, source, repeats, resolution }) => {
    const sum = `共 ${kernels.length} 个内核，合计 ${milliseconds(ms)}。`;
    if (source === "counted") {
      return (
        `${sum}这个设备没有为单个内核计时的时钟：各自的占比按运算量和字节数估算，并非测得；` +
        `总时间是测得的，运行 ${repeats} 次。`
      );
    }
    const whose = source === "timestamp" ? "GPU 自己的时钟" : "Python 的时钟";
    const figure = repeats === 1 ? "运行一次" : `${repeats} 次的${resolution ? "平均" : "中位数"}`;
    if (!resolution) return `${sum}由${whose}测得，${figure}。`;
    const tick = Number(resolution.toPrecision(2));
    return (
      `${sum}由${whose}测得，${figure}；在这个浏览器里它每 ${tick} ms 走一格，` +
      `所以短内核的时间只是粗略值。`
    );
  },

  tune: "为本设备调优",
  cancel: "取消",
  cancelling: "这一步结束后取消…",
  tuning: "测量能计算这个模型的每一种内核，留下最快的：需要几秒钟。",
  noTuningYet: "有了答案并测量之后，才能为它的模型调优。",
  nothingToTune: "NumPy 的每个运算只有一种算法，没有可调优的。",
  tuningWarnings: {
    leftOut: (why, kernel) => `没有使用 ${kernel}：${why}。`,
    unread: (why) => `无法读取调优记录：这个浏览器拒绝存储（${why}）。内核按规则选择。`,
    damaged: (why) => `调优记录已丢弃：${why}。再次调优之前，内核按规则选择。`,
    unkept: (why) => `无法保存调优记录：这个浏览器拒绝存储（${why}）。`,
  },
  tuningOp: (op, total) => `调优中：第 ${op} / ${total} 个运算`,
  tuningFailed: (why) => `无法调优内核：${why}`,
  tuned: (model, { ops, measured, replaced, clock, stopped }) => {
    if (!ops) return `${model} 没有可选内核的运算：什么都没有改变。`;
    if (!measured) return "在测量之前就取消了：什么都没有改变。";
    const early = stopped && measured < ops;
    const part = early ? `已取消：测量了 ${measured} / ${ops} 个运算，结果已保留。` : "";
    const whose =
      clock === "timestamp"
        ? "由 GPU 自己的时钟计时。"
        : "由页面的时钟计时，因为这个设备没有为单个内核计时的时钟。";
    if (!replaced.length) return `${part}${model}：原来的规则已经最好，没有更换内核。${whose}`;
    const [{ op, shape, gain }] = replaced;
    const best = gain > 1 ? `，最大提速 ${op} ${picture(shape)} ${gain.toFixed(1)} 倍` : "";
    return `${part}${model}：${measured} 个内核中更换了 ${replaced.length} 个${best}。${whose}`;
  },
};
