"""What a notebook counts of a GPU."""

DISPATCHES = """
from pyodide.code import run_js
gpu = run_js('''(() => {
  const counted = { dispatches: 0 };
  const encoder = GPUComputePassEncoder.prototype, dispatch = encoder.dispatchWorkgroups;
  encoder.dispatchWorkgroups = function (...size) {
    counted.dispatches += 1;
    return dispatch.apply(this, size);
  };
  return counted;
})()''')
"""
