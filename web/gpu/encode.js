// @ts-check
/** Encodes the steps of a plan. */

/**
 * Encode one compute pass with all of these dispatches.
 * @param {GPUCommandEncoder} encoder
 * @param {import("./bound.js").BoundStep[]} dispatches  bind() must have been called on each
 * @param {GPUComputePassTimestampWrites} [timestampWrites]
 */
export function encode(encoder, dispatches, timestampWrites) {
  const pass = encoder.beginComputePass({ timestampWrites });
  for (const { pipeline, bindGroup, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, /** @type {GPUBindGroup} */ (bindGroup));
    pass.dispatchWorkgroups(...workgroups);
  }
  pass.end();
}
