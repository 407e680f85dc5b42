// @ts-check
/** What was said, as plain text, and as subtitles: SubRip (SRT) and WebVTT (w3.org/TR/webvtt1). */

/** @typedef {{start: number, end: number, text: string}} Segment  times in seconds */

/** @param {readonly Segment[]} segments */
export const plain = (segments) => segments.map(({ text }) => `${text.trim()}\n`).join("");

/** @param {readonly Segment[]} segments */
export const srt = (segments) =>
  segments.map((each, index) => `${index + 1}\n${times(each, ",")}\n${line(each)}\n`).join("\n");

/** @param {readonly Segment[]} segments */
export const vtt = (segments) =>
  `WEBVTT\n${segments.map((each) => `\n${times(each, ".")}\n${escaped(line(each))}\n`).join("")}`;

/** A time on a clock. @param {number} seconds @param {string} [point]  before thousandths, if any */
export function clock(seconds, point) {
  const all = point ? Math.round(seconds * 1000) : Math.floor(seconds) * 1000;
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(all / 3_600_000), Math.floor(all / 60_000) % 60];
  const rest = two(Math.floor(all / 1000) % 60);
  if (!point) return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
  return `${two(hours)}:${two(minutes)}:${rest}${point}${String(all % 1000).padStart(3, "0")}`;
}

/** @param {Segment} segment @param {string} point */
const times = ({ start, end }, point) => `${clock(start, point)} --> ${clock(end, point)}`;

/** A blank line would end a subtitle. @param {Segment} segment */
const line = ({ text }) => text.trim().replace(/\s*\n\s*/g, "\n");

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
