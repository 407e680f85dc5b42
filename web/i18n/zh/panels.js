// @ts-check
/** Chinese texts of what views share, and of the panels below them. */

import { milliseconds, picture, tiny } from "../../shared/format.js";

/** @type {typeof import("../en/panels.js").panels} */
export const panels = {
  penDown: "落笔",
  penUp: "抬笔",

  unavailable: (device, reason) => `无法使用 ${device}：${reason}`,
  unnamedAdapter: "没有透露名称的 WebGPU 适配器",
  relaxed: "（宽松 SIMD）",
  withThreads: (adapter, threads) => `${adapter}，${threads} 个线程`,
  notIsolated: (adapter) => `${adapter}，1 个线程：服务器把页面与其他来源隔离后才能使用更多线程`,
  notThreads: (asked, most) => `地址中的 threads=${asked} 不是线程数：请填写 1 到 ${most} 的整数。`,

  keeping: "正在保存，以便离线使用…",
  kept: "可离线使用",
  /** @param {string} why */
  notKept: (why) => `无法离线使用：${why}`,
  newer: "本页面有新版本。",
  reload: "重新载入新版本",
  keepingFailed: "文件未能保存，下次访问时会再试。",
  noServiceWorker: "此浏览器不为该地址保存文件。",

  nothingToCheck: "请先画一个数字，或选一张照片。",
  aboutCheck: "也用 NumPy 计算这个答案，并显示最大的差异。",
  aboutCompare: "在每种设备上计算这个答案，并排显示用时。",
  computingEach: "正在每种设备上计算…",
  checked: (difference, classes) =>
    `${classes} 个概率中最大的差异是 ${tiny(difference)}：` +
    (difference < 1e-3 ? "各设备的结果一致。" : "超出了舍入误差的范围。"),
  compared: (model, runs) => `${model}：首次用时包括编译；热运行是最多 ${runs} 次的中位数。`,
  runOn: (run, device) => `${run === "first" ? "首次" : "热运行"} · ${device}`,
  eachFailed: (why) => `无法比较各设备：${why}`,

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
  withoutGpu: "不使用 GPU：设备在一分钟内丢失了两次。想再试一次，请选择 WebGPU。",

  elsewhere: "另一台机器",
  machineAway: (why) =>
    `另一台机器已断开：${why}。继续计算，但不再使用它；想重新连接，请再次选择它。`,

  noKernelsYet: "画一个数字或选一张照片，这里就会显示它用到的内核。",
  measuring: "测量中…",
  noCode: "这一步由 NumPy 计算，没有自己的代码。",
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
  tunedThere: "内核由负责计算的机器自己选择，可以在那里调优。",
  nothingToTune: "NumPy 的每个运算只有一种算法，没有可调优的。",
  tuningWarnings: {
    leftOut: (why, kernel) => `没有使用 ${kernel}：${why}。`,
    unread: (why) => `无法读取调优记录：这个浏览器拒绝存储（${why}）。内核按规则选择。`,
    damaged: (why) => `调优记录已丢弃：${why}。再次调优之前，内核按规则选择。`,
    unkept: (why) => `无法保存调优记录：这个浏览器拒绝存储（${why}）。`,
  },
  tuningOp: (op, total) => `调优中：第 ${op} / ${total} 个运算`,
  tuningFailed: (why) => `无法调优内核：${why}`,
  viewFailed: (why) => `无法启动这个视图：${why}。其他视图可以使用。`,
  tuningCancelled: "在测量之前就取消了：什么都没有改变。",

  tuned: (model, { ops, measured, replaced, clock }) => {
    if (!ops) return `${model} 没有可选内核的运算：什么都没有改变。`;
    if (!measured) return panels.tuningCancelled;
    const early = measured < ops;
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
  copyJson: "复制为 JSON",
  copyCsv: "复制为 CSV",
};
