// @ts-check
/**
 * Counts a worker's use of WebGPU, in the same way for both engines.
 *
 * Bytes are those of buffers that were created and not destroyed. A buffer that waits for the
 * garbage collector counts as held, since it is.
 */

export const meter = {
  held: 0,
  peak: 0,
  pipelines: 0,
  dispatches: 0,
  submits: 0,
  /** The adapter of the last device opened since this module was imported. */
  adapter: "",
  /** Start a new count. Held buffers stay counted. */
  reset() {
    this.peak = this.held;
    this.pipelines = this.dispatches = this.submits = 0;
  },
};

/** Sizes of the held buffers. @type {Map<GPUBuffer, number>} */
const sizes = new Map();

/**
 * Call a function after each call of a method.
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
  const maker = [info.vendor, info.architecture].filter(Boolean).join(" ");
  const name = info.description || info.device;
  meter.adapter = name && maker ? `${name} (${maker})` : name || maker || "unnamed adapter";
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
  onCall(GPUQueue.prototype, "submit", () => (meter.submits += 1));
}
