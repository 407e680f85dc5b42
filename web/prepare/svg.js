// @ts-check
/**
 * Renders SVG drawings. They are loaded as an image, in which no script runs and nothing is
 * fetched. A drawing without a size gets a default one.
 */

/** The longest side of a rendered drawing. */
const SIDE = 1024;

/** @param {File} file */
export const isSvg = (file) => file.type === "image/svg+xml" || /\.svg$/i.test(file.name);

/**
 * @param {File} file
 * @returns {Promise<ImageBitmap>}
 * @throws {Error}  if it is not SVG, or the browser can't draw it
 */
export async function drawSvg(file) {
  const found = new DOMParser().parseFromString(await file.text(), "image/svg+xml");
  const root = found.documentElement;
  if (root.localName !== "svg" || found.querySelector("parsererror")) throw new Error("no SVG");
  const [, , ...box] = (root.getAttribute("viewBox") ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const given = ["width", "height"].map((name) => pixels(root.getAttribute(name)));
  const [width, height] = [given, box].find(usable) ?? [SIDE, SIDE];
  const scale = SIDE / Math.max(width, height);
  if (!usable(box)) root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("width", String(Math.max(1, Math.round(width * scale))));
  root.setAttribute("height", String(Math.max(1, Math.round(height * scale))));
  const words = new XMLSerializer().serializeToString(found);
  const url = URL.createObjectURL(new Blob([words], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return await createImageBitmap(image);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Parse a length in pixels; NaN for any other unit, such as 100% or 3em.
 * @param {string | null} length
 */
const pixels = (length) => Number(/^\s*([\d.]+)(px)?\s*$/.exec(length ?? "")?.[1] ?? NaN);

/** @param {number[]} size */
const usable = (size) => size.length === 2 && size.every((side) => side > 0 && side < Infinity);
