// @ts-check
/** Chinese texts of the form for another machine. */

/** @type {typeof import("../en/machine.js").machine} */
export const machine = {
  name: "另一台机器",
  about: "在运行“tallow serve --\u2060compute”的机器上计算。您画的和选的会发送到那里。",
  address: "地址",
  token: "令牌",
  connect: "连接",
  cancel: "取消",
  connecting: "正在连接…",
  unreadable: "这不是机器的地址。请填写 https:// 和它的名称。",
  insecure: "浏览器只允许本页面通过 https 连接其他机器。请填写 https:// 开头的地址。",
  refused: (why) => `未能连接：${why}`,
};
