"""WGSL functions for primitives that WGSL's own do not compute for every operand.

{T} is the type of the operand, a scalar or a vec4, {U} the unsigned integers of its width, {S} its
suffix. WGSL compilers may assume that no NaN or infinity occurs, so the bits are asked; and drivers
differ in what they make of both, and of numbers for which a function has no value.
"""

# WGSL leaves pow undefined for a negative base; there the sign comes from the exponent's parity.
# Of 0, infinity and NaN drivers make different things, so their bits are asked.
POW = """
fn pow_{S}(x: {T}, y: {T}) -> {T} {
    let one = {U}(0x3f800000u);
    let infinity = {U}(0x7f800000u);
    let base = bitcast<{U}>(x) & {U}(0x7fffffffu);
    let exponent = bitcast<{U}>(y) & {U}(0x7fffffffu);
    let negative = bitcast<{U}>(x) >= {U}(0x80000000u);
    let endless = select({T}(), {T}(bitcast<f32>(inf_bits)), (base > one) == (y > {T}()));
    let extreme = (base == {U}()) | (base == infinity) | (exponent == infinity);
    let magnitude = select(pow(abs(x), y), endless, extreme);
    let odd = (exponent < infinity) & (abs(y - {T}(2.0) * floor(y / {T}(2.0))) == {T}(1.0));
    let signed = select(magnitude, -magnitude, odd & negative);
    let undefined_root = negative & (base > {U}()) & (base < infinity) & !(floor(y) == y);
    let undefined = undefined_root | (base > infinity) | (exponent > infinity);
    let result = select(signed, {T}(bitcast<f32>(nan_bits)), undefined);
    let is_one = (bitcast<{U}>(x) == one) | ((base == one) & (exponent == infinity));
    return select(result, {T}(1.0), is_one | (exponent == {U}()));
}
"""

# -inf at 0; of the bits that are greater than infinity's, those are NaN's or have the sign.
LOG = """
fn log_{S}(x: {T}) -> {T} {
    let bits = bitcast<{U}>(x);
    let large = select(log(x), x, bits == {U}(0x7f800000u));
    let undefined = select(large, {T}(bitcast<f32>(nan_bits)), bits > {U}(0x7f800000u));
    return select(undefined, {T}(bitcast<f32>(minus_inf_bits)), x == {T}());
}
"""

# asin and acos: beyond 1 there is no value, and NaN's bits are beyond those of 1.
ARC = """
fn NAME_{S}(x: {T}) -> {T} {
    let outside = (bitcast<{U}>(x) & {U}(0x7fffffffu)) > {U}(0x3f800000u);
    return select(NAME(x), {T}(bitcast<f32>(nan_bits)), outside);
}
"""

ATANH = """
fn atanh_{S}(x: {T}) -> {T} {
    let size = bitcast<{U}>(abs(x));
    let one = {U}(0x3f800000u);
    let inside = select(atanh(x), x * {T}(bitcast<f32>(inf_bits)), size == one);
    return select(inside, {T}(bitcast<f32>(nan_bits)), size > one);
}
"""

# Beyond 10 the answer is 1 to the last bit, while exp in tanh overflows from about 88. Near 0,
# where WGSL allows an error that is all of a small answer, the series has it.
TANH = """
fn tanh_{S}(x: {T}) -> {T} {
    let square = x * x;
    let series = x - x * square * ({T}(0.33333333) - square * {T}(0.13333333));
    return select(tanh(clamp(x, {T}(-10.0), {T}(10.0))), series, square < {T}(0.01));
}
"""

# From products of halves of 16 bits.
MULTIPLY_HIGH = """
fn multiply_high_{S}(x: {T}, y: {T}) -> {T} {
    let half = {T}(16u);
    let low = {T}(0xffffu);
    let middle = (x >> half) * (y & low) + (((x & low) * (y & low)) >> half);
    let other = (x & low) * (y >> half) + (middle & low);
    return (x >> half) * (y >> half) + (middle >> half) + (other >> half);
}
"""

HELPERS = {
    "pow": POW,
    "log": LOG,
    "asin": ARC.replace("NAME", "asin"),
    "acos": ARC.replace("NAME", "acos"),
    "atanh": ATANH,
    "tanh": TANH,
    "multiply_high": MULTIPLY_HIGH,
}
"""By the primitive that each computes."""
