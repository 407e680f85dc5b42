// @ts-check
/**
 * The smallest page that answers with onnxruntime-web: ?backend=webgpu|wasm&model=NAME. It loads
 * the smallest bundle for the backend, the model and the picture in parallel, runs once, and writes
 * the class. bench/peer_page.py collects its files.
 */

const { backend, model } = Object.fromEntries(new URLSearchParams(location.search));

/** The WebGPU build for browsers with JSPI is the smaller of two. */
const bundle = { webgpu: "./ort.jspi.bundle.min.mjs", wasm: "./ort.wasm.bundle.min.mjs" }[backend];

/** @param {number} side */
function canvas(side) {
  const context = new OffscreenCanvas(side, side).getContext("2d");
  if (!context) throw new Error("no canvas");
  return context;
}

/** A seven, white on black. @returns {Promise<[Float32Array, number[]]>} */
async function digit() {
  const context = canvas(28);
  context.strokeStyle = "white";
  context.lineWidth = 2.5;
  context.stroke(new Path2D("M7 6H21L12 24"));
  const { data } = context.getImageData(0, 0, 28, 28);
  return [Float32Array.from({ length: 784 }, (_, i) => data[4 * i + 3]), [1, 1, 28, 28]];
}

/**
 * The middle of the sample, prepared as in the model's card.
 * @returns {Promise<[Float32Array, number[]]>}
 */
async function photo() {
  const side = 224;
  const sample = await createImageBitmap(
    await (await fetch(new URL("sample", import.meta.url))).blob(),
  );
  const cut = 0.875 * Math.min(sample.width, sample.height);
  const context = canvas(side);
  const [x, y] = [(sample.width - cut) / 2, (sample.height - cut) / 2];
  context.imageSmoothingQuality = "high";
  context.drawImage(sample, x, y, cut, cut, 0, 0, side, side);
  const { data } = context.getImageData(0, 0, side, side);
  const values = new Float32Array(3 * side * side);
  for (let i = 0; i < side * side; i++) {
    for (let c = 0; c < 3; c++) values[c * side * side + i] = (data[4 * i + c] - 127) / 128;
  }
  return [values, [1, 3, side, side]];
}

const [ort, content, [values, shape]] = await Promise.all([
  /** @type {Promise<typeof import("onnxruntime-web")>} */ (import(`${bundle}`)),
  fetch(new URL(`${model}.onnx`, import.meta.url)).then((response) => response.arrayBuffer()),
  model === "mnist" ? digit() : photo(),
]);
const session = await ort.InferenceSession.create(content, { executionProviders: [backend] });
const feeds = { [session.inputNames[0]]: new ort.Tensor("float32", values, shape) };
const { data } = (await session.run(feeds))[session.outputNames[0]];
const scores = /** @type {Float32Array} */ (data);
const best = scores.indexOf(Math.max(...scores));
/** @type {HTMLOutputElement} */ (document.querySelector("output")).textContent = String(best);
document.documentElement.dataset.answer = String(best);

export {}; // makes this a module, for top-level await
