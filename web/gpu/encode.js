// @ts-check
/** How dispatches are written into a command encoder. */

/**
 * All dispatches in one compute pass.
 * @param {GPUCommandEncoder} encoder
 * @param {import("./bound.js").BoundStep[]} dispatches  which are bound
 * @param {GPUComputePassTimestampWrites} [timestampWrites]
 */
export function encode(encoder, dispatches, timestampWrites) {
  const pass = encoder.beginComputePass({ timestampWrites });
  for (const { pipeline, group, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, /** @type {GPUBindGroup} */ (group));
    pass.dispatchWorkgroups(...workgroups);
  }
  pass.end();
}
