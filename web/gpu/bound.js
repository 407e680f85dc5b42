// @ts-check
/** A step of a plan on the device, with a bind group for whatever buffers its slots have. */

/** Bind groups that a step keeps: buffers that stay on the device come round again. */
const MAX_GROUPS = 8;

export class BoundStep {
  /**
   * @param {import("./runner.js").Runner} runner
   * @param {import("./program.js").Computing} step
   * @param {GPUComputePipeline} pipeline
   * @param {GPUBindingResource | undefined} params
   * @param {Set<number>} outside  slots whose buffers may be others in every run
   */
  constructor(runner, step, pipeline, params, outside) {
    this.runner = runner;
    this.name = step.name;
    this.pipeline = pipeline;
    this.workgroups = step.kernel.workgroups;
    this.params = params;
    this.layout = pipeline.getBindGroupLayout(0);
    const written = step.bindings.at(-1);
    /** The slots that are bound: what is written over is not bound twice. */
    this.slots = step.bindings.filter(
      (slot, index) => slot !== written || index === step.bindings.length - 1,
    );
    this.outside = this.slots.filter((slot) => outside.has(slot));
    /** @type {Map<string, GPUBindGroup>} */
    this.groups = new Map();
    /** The one for the next run. @type {GPUBindGroup | undefined} */
    this.group = undefined;
  }

  /** Have the next run use these buffers. @param {(slot: number) => GPUBuffer} buffer  by slot */
  bind(buffer) {
    const { device, buffers } = this.runner;
    const key = this.outside.map((slot) => buffers.serial(buffer(slot))).join();
    this.group = this.groups.get(key);
    if (this.group) return;
    /** @type {GPUBindGroupEntry[]} */
    const entries = this.slots.map((slot, binding) => ({
      binding,
      resource: { buffer: buffer(slot) },
    }));
    if (this.params) entries.push({ binding: entries.length, resource: this.params });
    this.group = device.createBindGroup({ label: this.name, layout: this.layout, entries });
    const [oldest] = this.groups.keys();
    if (this.groups.size >= MAX_GROUPS) this.groups.delete(oldest);
    this.groups.set(key, this.group);
  }
}
