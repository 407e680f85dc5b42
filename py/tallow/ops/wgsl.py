"""Functions in WGSL that elementwise records call.

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

# exp(x) - 1 where it keeps most digits of x, else a part of its series.
EXPM1 = """
fn expm1_{S}(x: {T}) -> {T} {
    let tail = {T}(0.041666667) + x * ({T}(0.0083333333) + x * {T}(0.0013888889));
    let series = x + x * x * ({T}(0.5) + x * ({T}(0.16666667) + x * tail));
    return select(exp(x) - {T}(1.0), series, abs(x) < {T}(0.25));
}
"""

# log(1 + x) where 1 + x keeps most digits of x, else a part of its series.
LOG1P = """
fn log1p_{S}(x: {T}) -> {T} {
    let tail = {T}(0.5) - x * ({T}(0.33333333) - x * {T}(0.25));
    return select(log_{S}({T}(1.0) + x), x - x * x * tail, abs(x) < {T}(0.05));
}
"""

# asin and acos: beyond 1 there is no value, and NaN's bits are beyond those of 1.
ARC = """
fn NAME_{S}(x: {T}) -> {T} {
    let outside = (bitcast<{U}>(x) & {U}(0x7fffffffu)) > {U}(0x3f800000u);
    return select(NAME(x), {T}(bitcast<f32>(nan_bits)), outside);
}
"""

# WGSL's own overflow where the square of x does, and lose small results. From 10000 on the square
# root of x * x + 1, or of x * x - 1, is x.
ASINH = """
fn asinh_{S}(x: {T}) -> {T} {
    let size = abs(x);
    let held = min(size, {T}(10000.0));
    let near = log1p_{S}(held + held * held / ({T}(1.0) + sqrt(held * held + {T}(1.0))));
    let far = log_{S}(size) + {T}(0.69314718);
    return sign(x) * select(near, far, size > {T}(10000.0));
}
"""

ACOSH = """
fn acosh_{S}(x: {T}) -> {T} {
    let above = clamp(x, {T}(1.0), {T}(10000.0)) - {T}(1.0);
    let near = log1p_{S}(above + sqrt(above * above + {T}(2.0) * above));
    let far = log_{S}(x) + {T}(0.69314718);
    let result = select(near, far, x > {T}(10000.0));
    let undefined = (bitcast<{U}>(x) > {U}(0x7f800000u)) | (x < {T}(1.0));
    return select(result, {T}(bitcast<f32>(nan_bits)), undefined);
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

# WGSL takes the width's remainder of a shift; in two steps 32 bits and more go out at the end.
SHIFT = """
fn NAME_{S}(x: {T}, by: {U}) -> {T} {
    return (x OP min(by, {U}(31u))) OP select({U}(), {U}(1u), by > {U}(31u));
}
"""

# Ten bits of the mantissa, halves to even; a carry goes on into the exponent. Below the smallest
# normal number, the multiples of 2 ** -24: the distance of neighbours from 0.5 on.
TO_HALF = """
fn to_half_{S}(x: {T}) -> {T} {
    let size = bitcast<{U}>(x) & {U}(0x7fffffffu);
    let even = (size >> {U}(13u)) & {U}(1u);
    let normal = (size + {U}(0xfffu) + even) & {U}(0xffffe000u);
    let steps = bitcast<{U}>(abs(x) + {T}(0.5)) - {U}(0x3f000000u);
    let small = bitcast<{U}>({T}(steps) * {T}(5.9604645e-08));
    let rounded = select(normal, small, size < {U}(0x38800000u));
    let held = select(rounded, {U}(0x7f800000u), rounded > {U}(0x477fe000u));
    let kept = select(held, size, size > {U}(0x7f800000u));
    return bitcast<{T}>(kept | (bitcast<{U}>(x) & {U}(0x80000000u)));
}
"""
