// @ts-check
/** Chinese texts about progress and failures. */

import { megabytes } from "../../shared/format.js";

/** @type {typeof import("../en/messages.js").messages} */
export const messages = {
  preparing: "准备中…",
  unexpected: "意外错误，详情见浏览器的控制台",

  startingAgain: "正在重新启动…",
  startingPython: "正在启动 Python…",
  tryAgain: "重试",

  loading: (done, total) => `正在加载 ${megabytes(done)} / ${megabytes(total)} MB`,
  compiling: (done, total) => `正在编译内核：${done} / ${total}`,
  ready: (kernels) => (kernels ? `就绪 · 已编译 ${kernels} 个内核` : "就绪"),
  noStorage: "此浏览器不为这个地址保存任何内容",
  insecure: "没有 https 的地址，浏览器不保存任何内容",
  planDamaged: "以前保存的内容已损坏，将重新生成",

  workerFailed: (why) => `后台线程出错：${why}。`,
  noWorkerFile: (path) => `无法加载 ${path} 或它导入的模块`,
  workerStuck: (seconds) => `后台线程 ${seconds} 秒没有任何回应。`,
  workerGarbled: "后台线程发来的内容无法读取。",
  workerReplaced: (reason) => `${reason}正在重新启动…`,

  gpuLost: "GPU 设备丢失，正在打开另一个…",
  goingOnWith: (device, why, other) => `${device} 出错：${why}。改用 ${other} 继续…`,
  goingOnWithoutGpu: "GPU 设备在一分钟内丢失了两次，不使用 GPU 继续…",
  readyWithoutGpu: "就绪 · GPU 设备两次丢失，不再使用 GPU",

  startFailed: (why) => `无法准备设备：${why}`,
  modelFailed: (model, why) => `无法加载模型 ${model}：${why}`,
  pythonFailed: (why) => `无法启动 Python：${why}`,
  otherSnapshot: (version) => `快照中的 Tallow 版本是 ${version}。`,
  numpyFailed: (why) => `无法加载 NumPy：${why}`,
  noGpuHere: "这个浏览器没有 WebGPU。",
  gpuNeedsHttps: "WebGPU 只能在安全的页面里使用：https，或本机的地址。",
  noAdapter: "这个浏览器有 WebGPU，但没有找到可用的适配器。",
  adapterRefused: (why) => `WebGPU 适配器拒绝打开设备：${why}`,

  otherDevice: "期间选择了其他设备。",
  nothingToCompare: "此浏览器只能使用 NumPy。",
  noSimd: "这个浏览器的 WebAssembly 没有 SIMD 指令。",
  noWebAssembly: "这个浏览器没有 WebAssembly，或禁止本页使用它；没有它就无法运行 Python。",

  unreachable: (path) => `无法获取 ${path}：连不上服务器。请检查网络。`,
  missing: (path) => `服务器上没有 ${path}（404）。`,
  notImported: (path) => `无法加载 ${path}：文件缺失或损坏，或者连不上服务器。`,
  refused: (path, status) => `无法获取 ${path}：服务器回答 ${status}。`,
  silent: (path, seconds) => `无法获取 ${path}：服务器 ${seconds} 秒没有响应。`,
  cutOff: (path, bytes) => `${path} 在 ${bytes} 字节后中断。请检查网络。`,
  wrongSize: (path, found, expected) => `${path} 已损坏：有 ${found} 字节，应为 ${expected}。`,
  wrongSum: (path, found, expected) =>
    `${path} 已损坏：它的 sha256 是 ${found}，应为 ${expected}。`,
  notJson: (path) => `${path} 已损坏：它不是 JSON。`,
  noModel: (name, names) => `没有名为 ${name} 的模型。现有：${names}。`,
};
