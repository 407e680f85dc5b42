//# Included by products of weights in blocks. BITS: of an element, 4 or 8. ZERO: what is taken from it.

// Elements are masked where they lie, because shifts are slow on software adapters. What that makes
// them too large is made up for by a factor, which is exact.
const MASK = vec4u(0xf, 0xf0, 0xf00, 0xf000); //#if BITS == 4
const SMALLER = vec4f(1, 0.0625, 0.00390625, 0.000244140625); //#if BITS == 4
const MASK = vec4u(0xff, 0xff00, 0xff, 0xff00); //#if BITS == 8
const SMALLER = vec4f(1, 0.00390625, 1, 0.00390625); //#if BITS == 8
const TAKEN = vec4f(${ZERO}) / SMALLER; //#if ZERO

// Four elements of a column, which SMALLER makes numbers of.
fn masked(words: vec4u) -> vec4f {
  return vec4f(vec4i(words & MASK))${" - TAKEN" if ZERO else ""};
}
