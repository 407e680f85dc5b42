"""WGSL: types and numbers, expressions, reductions, whole modules; which kernel computes an op."""
