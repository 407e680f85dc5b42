// @ts-check
/** Chinese texts of the Listen view. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {
  listenTitle: "把说的话写下来",
  listenLead:
    "网络聆听麦克风或文件，并写下其中的话和时间。除非您选择另一台机器，声音不会离开这个标签页。",
  listenChoose: "选择一个声音文件",
  listenDrop: "或拖放到页面任意位置",
  listenStop: "停止",
  listenLanguage: "说的语言",
  listenTranslate: "翻译成英语",
  listenSaid: "说了什么",
  listenSaveSrt: "保存为 SRT",
  listenSaveVtt: "保存为 VTT",
  listenClear: "清空",
};

/** @type {typeof import("./en.js").texts} */
export const texts = {
  listenRecord: "使用麦克风",
  listenRecorded: "结束录音",
  listenAny: "由网络识别",
  listenCopySrt: "复制为 SRT",
  listenNone: "还没有听到什么。",
  listenOpening: "正在打开模型…",
  listenDecoding: "正在读取文件…",
  listenListening: (time, speaks) => `正在录音，${time}：${speaks ? "有人在说话" : "没有人说话"}。`,
  listenWorking: (time, whole) => `已听 ${time}，共 ${whole}`,
  listenEnding: "正在写下其余部分…",
  listenDone: (time, segments) => `已听 ${time}，共 ${segments} 段文字`,
  listenSilent: "其中没有人说话。",
  listenRefused: "浏览器不允许本页使用麦克风。",
  listenNoMicrophone: "没有本页可用的麦克风。",
  listenNoSound: (name) => `${name} 不是这个浏览器能播放的声音。`,
  listenNotAudio: "这不是声音文件。",
  listenFailed: (why) => `听写失败：${why}`,
};
