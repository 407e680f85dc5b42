// @ts-check
/** Seconds as minutes and hours. */

/** @param {number} count */
export function seconds(count) {
  const whole = Math.max(0, Math.round(count));
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}
