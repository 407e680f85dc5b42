// @ts-check
/** Chinese texts of the Open view. */

import { bytes, count, time, tiny } from "../../../shared/format.js";

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  openTitle: "打开一个模型",
  openLead:
    "任何 ONNX 文件：里面有什么、每个算子在哪里运行，以及它对您给的值的回答。除非您选择另一台机器，文件不会离开这个标签页。",
  openChoose: "选择 .onnx 文件",
  openDrop: "或连同它的外部数据一起拖放到这里",
  openSummary: "模型",
  openUnsupported: "Tallow 还缺少的",
  openInputs: "输入",
  openRun: "运行",
  openOutputs: "输出",
  openLabels: "类别名称（.txt、.json 或 .csv，可不提供）",
  openCompare: "与 NumPy 比较",
  openRuns: "次数",
  openTime: "计时",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  openReading: (name) => `正在读取 ${name}…`,
  openRunning: "正在运行…",
  openTiming: "正在对热运行计时…",
  openCancelled: "已取消。",
  openOther: "已打开另一个模型。",
  openSeconds: (seconds) => `${count(seconds)} 秒`,
  openMissing: (name, missing, given) =>
    `“${name}”的权重存放在其他文件里，还缺少：${missing}。请在这里选择或拖放这些文件。${given}`,
  openGivenToo: (names) => `目前已有：${names}。`,
  openUnclear: (name, locations, names) =>
    `无法确定文件的对应关系：“${name}”的权重存放在 ${locations}，而给出的文件是 ${names}。` +
    `请拖放或选择包含模型及其所有文件的文件夹。`,
  openTwice: (path) => `这些文件中有两个都叫 ${path}。请拖放或选择包含模型及其所有文件的文件夹。`,
  openFolder: "选择文件夹",
  openUnneeded: (names) => `这个模型不需要 ${names}。`,
  openFailed: (name, why) => `无法打开“${name}”：${why}`,
  openSurveyFailed: (why) => `模型与输入不符：${why}`,
  openRunFailed: (why) => `无法运行模型：${why}`,
  openOnlyData: (names) => `这些文件里没有 .onnx 文件：${names}。`,

  openName: "名称",
  openProducer: "来源",
  openOpsets: "算子集",
  openParameters: "参数",
  openBytes: "文件",
  openMultiplyAdds: "乘加运算",
  openTakes: "输入",
  openGives: "输出",
  openOperator: "算子",
  openNodes: "节点",
  openWhere: "位置",
  openWhy: "原因",
  openOperators: "模型的算子",
  openMore: "说明与属性",
  openUnnamed: "未注明",
  openSurveying: "统计中…",
  openProducts: (products, whole) =>
    products === null || !(products || whole)
      ? "运行之前无法得知"
      : `每次运行${whole ? "" : "至少"} ${count(products)} 次`,
  openWeights: (elements, held) => `${count(elements)} 个，共 ${bytes(held)}`,
  openPlaces: {
    webgpu: { device: "GPU", host: "主机（NumPy）", nowhere: "不支持" },
    wasm: { device: "WebAssembly", host: "主机（NumPy）", nowhere: "不支持" },
    numpy: { device: "NumPy", host: "NumPy", nowhere: "不支持" },
    remote: { device: "另一台机器", host: "主机（NumPy）", nowhere: "不支持" },
  },
  openReasons: {
    DECIDES: () => "它决定要计算什么",
    HOST_ALONE: () => "它的结果只能在主机上计算",
    NO_NUMBERS: () => "它处理文本、序列或可选值",
    IN_FLOAT64: () => "它用 float64 计算，而 GPU 没有这种类型",
    IN_64_BITS: () => "它的 64 位整数可能超出 GPU 计算所用的 32 位",
    KNOWN_FIRST: () => "必须先知道它的一个输入的值",
    NO_OPERATOR: () => "Tallow 没有这个算子",
    NOT_IMPORTED: () => "模型没有导入它的算子集",
    DEFINED_LATER: (since) => `它在算子集 ${since} 中才有定义`,
    OPERATOR_SETS: (first, last) => `Tallow 支持算子集 ${first} 到 ${last} 中的这个算子`,
    REFUSED: (why) => String(why),
  },
  openAndMore: (left) => `还有 ${count(left)} 项`,
  openShape: (lengths, type, kind = "tensor") => {
    if (kind !== "tensor") return type;
    return `${type} ${lengths ? `[${lengths.join(", ")}]` : "任意形状"}`;
  },

  openLength: (name) => `${name} 的长度`,
  openGivenShape: "形状",
  openValue: "值",
  openKinds: {
    random: "随机",
    zeros: "全零",
    ones: "全一",
    counting: "0, 1, 2, …",
    numbers: "数字",
    npy: ".npy 文件",
    image: "图片",
    texts: "文本",
  },
  openGive: "提供一个值（否则略去）",
  openAdd: "添加一个张量",
  openRemove: "移除",
  openSeed: "随机种子",
  openFrom: "从",
  openTo: "到",
  openNumbers: "按顺序的数字；只写一个则用于全部",
  openTexts: "文本，每行一个",
  openNpy: ".npy 文件",
  openImage: "图片文件",
  openFit: "尺寸",
  openFitMiddle: "裁取中间",
  openFitWhole: "拉伸",
  openLayout: "排列",
  openOrder: "颜色顺序",
  openPreset: "取值",
  openPresets: {
    unit: "0 到 1",
    signed: "−1 到 1",
    bytes: "0 到 255",
    imagenet: "按 ImageNet",
    own: "自定均值和比例",
  },
  openMean: "均值（先减去）",
  openScale: "比例（再乘以）",
  openTextCount: (wanted, given) => `需要 ${count(wanted)} 个文本，给了 ${count(given)} 个`,
  openNpyShape: (wanted, given) => `文件的形状是 ${given}，不是 ${wanted}`,
  openNoFile: "请先选择文件",
  openBadShape: "形状必须是整数，例如 1, 3, 224, 224",
  openBadLength: "长度必须是不小于 0 的整数",
  openBadRule: "均值和比例必须是数字：一个，或每个通道一个",
  openBadRandom: "随机种子和上下限必须是数字",
  openTooLarge: "元素太多，标签页容纳不下",
  openCannotFill: "这里无法提供这一类值",
  openBadRuns: "次数必须是不小于 1 的整数。",
  openInputFailed: (name, why) => `输入“${name}”：${why}。`,

  openAs: "显示为",
  openViews: { top: "最佳类别", table: "表格", histogram: "直方图", image: "图片" },
  openDownload: "下载 .npy",
  openEmpty: "无",
  openMembers: (members) => (members ? `含 ${count(members)} 项的序列` : "空序列"),
  openWhich: (all) => `第几个（共 ${count(all)} 个）`,
  openClass: (index) => `第 ${index} 类`,
  openOutputTable: (name) => `${name} 的前几个值`,
  openOutputPicture: (name) => `${name} 的图片`,
  openOutputHistogram: (name) => `${name} 的值出现的次数`,
  openBin: (from, to, often) => `${from} 到 ${to}：${count(often)}`,
  openStatistics: (least, most, mean, odd) =>
    `从 ${least} 到 ${most}，平均 ${mean}${odd ? `；${count(odd)} 个不是有限数` : ""}`,
  openFirst: (shown, all) => `共 ${count(all)} 个值，显示前 ${count(shown)} 个。`,
  openTimes: (device, first, series) => {
    const begun = `${device}：首次 ${time(first)}`;
    if (!series) return `${begun}。`;
    const { count: runs, median, low, high, least, most } = series;
    if (runs === 1) return `${begun}；热运行 1 次，${time(median)}。`;
    return (
      `${begun}；热运行 ${count(runs)} 次：中位数 ${time(median)}，半数在 ${time(low)} 到 ` +
      `${time(high)} 之间，全部在 ${time(least)} 到 ${time(most)} 之间。`
    );
  },
  openCrossed: (steps, crossed) => `主机计算了 ${count(steps)} 个算子，传输了 ${bytes(crossed)}。`,
  openMoved: (why) => `有一部分改由 NumPy 运行：${why}`,
  openComparing: "正在两种设备上计算…",
  openCompareFailed: (why) => `无法比较两种设备：${why}`,
  openApart: (difference, largest) =>
    difference === null
      ? "各设备的结果不一致：其中一个给出了非有限数。"
      : `各设备之间的最大差异： ${tiny(difference)}` +
        (largest ? `，数值最大为 ${tiny(largest)}` : ""),
  openLabelled: (name, found) => `${name} 里有 ${count(found)} 个类别名称。`,
  openMislabelled: (name, found, wanted) =>
    `${name} 里有 ${count(found)} 个类别名称，但输出有 ${wanted} 个类别：它们属于这个模型吗？`,
};
