// @ts-check
/** Chinese texts that index.html has in English, by the data-text of their element. */

/** @type {Record<string, string>} */
export const page = {
  title: "Tallow · 浏览器标签页里的深度学习",
  description:
    "画一个数字，或选一张照片：神经网络用 Python 搭建，就在这个标签页里，用您自己的显卡运行。",
  unstarted:
    "页面的脚本还没有启动。网络较慢时请稍等；否则请重新加载。如果仍然不行，可能是浏览器太旧，或 JavaScript 模块被阻止。",
  views: "视图",
  language: "语言",
  cancel: "取消",
  engine: "引擎",
  status: "状态",
  progress: "进度",
  install: "安装为应用",
  bootLog: "启动日志",
  device: "计算设备",
  anotherMachine: "另一台机器…",
  latency: "本次用时",
  both: "设备比较",
  agreement: "各设备的结果一致吗？",
  check: "与 NumPy 核对",
  speed: "各自有多快？",
  compare: "比较各设备",
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
  how: "Python 在这个标签页里搭建每个网络，并把它编译成 WebGPU 着色器或 WebAssembly。除非您选择另一台机器，您画的和选的一切都不会离开您的电脑。",
  licence: "许可证",
  notices: "声明",
};
