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

# The rest of an angle after quarter turns, and its sine and cosine, as WGSL promises an absolute
# error of 2^-11 within pi and nothing beyond it. pi / 2 stands in parts of seven bits, whose
# products with up to 2^17 quarter turns are exact; beyond those the rest would lose its digits.
_TURN = """
    let size = abs(x);
    let n = round(size * {T}(0.63661977));
    let r1 = size - n * {T}(1.5625);
    let r2 = r1 - n * {T}(0.0081787109375);
    let r3 = r2 - n * {T}(0.00011730194091796875);
    let r4 = r3 - n * {T}(3.129243850708008e-07);
    let r5 = r4 - n * {T}(9.920935796805404e-10);
    let square = r5 * r5;
    let sine = r5 + r5 * square * ({T}(-1.6666654611e-1) + square * ({T}(8.3321608736e-3)
        - square * {T}(1.9515295891e-4)));
    let cosine = {T}(1.0) - {T}(0.5) * square + square * square * ({T}(4.166664568298827e-2)
        + square * ({T}(-1.388731625493765e-3) + square * {T}(2.443315711809948e-5)));
    let near = size < {T}(200000.0);
"""

SIN = f"""
fn sin_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let quarter = {{U}}(n) & {{U}}(3u);
    let value = select(sine, cosine, (quarter & {{U}}(1u)) == {{U}}(1u));
    let below = bitcast<{{U}}>(x) >= {{U}}(0x80000000u);
    let negative = (quarter > {{U}}(1u)) != below;
    return select(sin(x), select(value, -value, negative), near);
}}
"""

COS = f"""
fn cos_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let quarter = ({{U}}(n) + {{U}}(1u)) & {{U}}(3u);
    let value = select(sine, cosine, (quarter & {{U}}(1u)) == {{U}}(1u));
    return select(cos(x), select(value, -value, quarter > {{U}}(1u)), near);
}}
"""

TAN = f"""
fn tan_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let value = select(sine / cosine, -cosine / sine, ({{U}}(n) & {{U}}(1u)) == {{U}}(1u));
    let below = bitcast<{{U}}>(x) >= {{U}}(0x80000000u);
    return select(tan(x), select(value, -value, below), near);
}}
"""

# Near 0 the difference of exponentials has no digits; far out the square of one of half the
# operand is finite where its own exponential is not.
SINH = """
fn sinh_{S}(x: {T}) -> {T} {
    let square = x * x;
    let series = x + x * square * ({T}(1.66667160211e-1) + square * ({T}(8.33028376239e-3)
        + square * {T}(2.03721912945e-4)));
    let root = exp(abs(x) * {T}(0.5));
    let far = {T}(0.5) * root * root - {T}(0.5) / root / root;
    return select(select(far, -far, x < {T}()), series, square < {T}(1.0));
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
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "sinh": SINH,
    "multiply_high": MULTIPLY_HIGH,
}
"""By the primitive that each computes."""
