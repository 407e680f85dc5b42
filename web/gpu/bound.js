// @ts-check
/** A step of a plan on the device: its pipeline, and bind groups for the buffers of each run. */

/**
 * Bind groups that a step caches. Programs that keep values on the device often reuse the same few
 * buffers.
 */
const MAX_BIND_GROUPS = 8;

export class BoundStep {
  /**
   * @param {import("./runner.js").Runner} runner
   * @param {import("./program.js").Computing} step
   * @param {GPUComputePipeline} pipeline
   * @param {GPUBindingResource | undefined} params  the step's part of the uniform buffer
   * @param {Set<number>} externalSlots  slots of the program whose buffer can differ in every run
   */
  constructor(runner, step, pipeline, params, externalSlots) {
    this.runner = runner;
    this.name = step.name;
    this.pipeline = pipeline;
    this.workgroups = step.kernel.workgroups;
    this.params = params;
    this.layout = pipeline.getBindGroupLayout(0);
    const written = step.bindings.at(-1);
    /** The slots to bind. A step that works in place lists its slot twice, but binds it once. */
    this.slots = step.bindings.filter(
      (slot, index) => slot !== written || index === step.bindings.length - 1,
    );
    this.externalSlots = this.slots.filter((slot) => externalSlots.has(slot));
    /** Cached, by the serials of the external buffers. @type {Map<string, GPUBindGroup>} */
    this.bindGroups = new Map();
    /** The bind group for the next run. @type {GPUBindGroup | undefined} */
    this.bindGroup = undefined;
  }

  /**
   * Choose the buffers for the next run.
   * @param {(slot: number) => GPUBuffer} bufferOf
   */
  bind(bufferOf) {
    const { device, buffers } = this.runner;
    const key = this.externalSlots.map((slot) => buffers.serialOf(bufferOf(slot))).join();
    this.bindGroup = this.bindGroups.get(key);
    if (this.bindGroup) return;
    /** @type {GPUBindGroupEntry[]} */
    const entries = this.slots.map((slot, binding) => ({
      binding,
      resource: { buffer: bufferOf(slot) },
    }));
    if (this.params) entries.push({ binding: entries.length, resource: this.params });
    this.bindGroup = device.createBindGroup({ label: this.name, layout: this.layout, entries });
    const [oldest] = this.bindGroups.keys();
    if (this.bindGroups.size >= MAX_BIND_GROUPS) this.bindGroups.delete(oldest);
    this.bindGroups.set(key, this.bindGroup);
  }
}
