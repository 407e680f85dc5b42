// @ts-check
/**
 * Counts what a worker does with WebGPU, whoever does it: the same instrument for both engines.
 *
 * Bytes are those of buffers that were created and not destroyed; one that is only dropped, for the
 * garbage collector to find, counts as held, as it is.
 */

export const meter = {
  held: 0,
  peak: 0,
  pipelines: 0,
  dispatches: 0,
  /** The adapter of the last device that was opened since this module was imported. */
  adapter: "",
  /** Begin a new count; what is held stays held. */
  reset() {
    this.peak = this.held;
    this.pipelines = this.dispatches = 0;
  },
};

/** Sizes of the buffers that are held. @type {Map<GPUBuffer, number>} */
const sizes = new Map();

/**
 * Have a method do something as well.
 * @param {any} prototype
 * @param {string} name
 * @param {(self: any, result: any) => void} note
 */
function onCall(prototype, name, note) {
  const method = prototype[name];
  prototype[name] = function (/** @type {unknown[]} */ ...args) {
    const result = method.apply(this, args);
    note(this, result);
    return result;
  };
}

/** @param {GPUAdapter} adapter */
function nameAdapter({ info }) {
  const made = [info.vendor, info.architecture].filter(Boolean).join(" ");
  const said = info.description || info.device;
  meter.adapter = said && made ? `${said} (${made})` : said || made || "unnamed adapter";
}

if ("GPUDevice" in globalThis) {
  onCall(GPUAdapter.prototype, "requestDevice", nameAdapter);
  onCall(GPUDevice.prototype, "createBuffer", (_, buffer) => {
    sizes.set(buffer, buffer.size);
    meter.held += buffer.size;
    meter.peak = Math.max(meter.peak, meter.held);
  });
  onCall(GPUBuffer.prototype, "destroy", (buffer) => {
    meter.held -= sizes.get(buffer) ?? 0;
    sizes.delete(buffer);
  });
  for (const name of ["createComputePipeline", "createComputePipelineAsync"]) {
    onCall(GPUDevice.prototype, name, () => (meter.pipelines += 1));
  }
  for (const name of ["dispatchWorkgroups", "dispatchWorkgroupsIndirect"]) {
    onCall(GPUComputePassEncoder.prototype, name, () => (meter.dispatches += 1));
  }
}
