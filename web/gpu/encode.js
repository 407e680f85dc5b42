// @ts-check
/** How dispatches are written into a command encoder. */

/**
 * @typedef {object} Dispatch
 * @property {GPUComputePipeline} pipeline
 * @property {GPUBindGroup} group
 * @property {[number, number, number]} workgroups
 */

/**
 * All dispatches in one compute pass.
 * @param {GPUCommandEncoder} encoder
 * @param {Dispatch[]} dispatches
 * @param {GPUComputePassTimestampWrites} [timestampWrites]
 */
export function encode(encoder, dispatches, timestampWrites) {
  const pass = encoder.beginComputePass({ timestampWrites });
  for (const { pipeline, group, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...workgroups);
  }
  pass.end();
}
