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

# WGSL promises only an absolute error of 2^-21 near 1, so mantissa and power are taken apart. -inf
# at 0; of the bits that are greater than infinity's, those are NaN's or have the sign.
LOG = """
fn log_{S}(x: {T}) -> {T} {
    let bits = bitcast<{U}>(x);
    let tiny = bits < {U}(0x800000u);
    let scaled = select(bits, bitcast<{U}>(x * {T}(8388608.0)), tiny);
    let power_bits = (scaled + {U}(0x4afb0du)) >> {U}(23u);
    let power = {T}(power_bits) - select({T}(127.0), {T}(150.0), tiny);
    let f = bitcast<{T}>(scaled - ((power_bits - {U}(127u)) << {U}(23u))) - {T}(1.0);
    let square = f * f;
    let low = {T}(1.4249322787e-1) + f * ({T}(-1.2420140846e-1) + f * ({T}(1.1676998740e-1)
        + f * ({T}(-1.1514610310e-1) + f * {T}(7.0376836292e-2))));
    let series = {T}(3.3333331174e-1) + f * ({T}(-2.4999993993e-1) + f * ({T}(2.0000714765e-1)
        + f * ({T}(-1.6668057665e-1) + f * low)));
    let tail = power * {T}(-2.12194440e-4) + f * square * series - {T}(0.5) * square;
    let made = power * {T}(0.693359375) + (f + tail);
    let large = select(made, x, bits == {U}(0x7f800000u));
    let undefined = select(large, {T}(bitcast<f32>(nan_bits)), bits > {U}(0x7f800000u));
    return select(undefined, {T}(bitcast<f32>(minus_inf_bits)), x == {T}());
}
"""

# asin and acos: beyond 1/2 from half the angle, as WGSL promises little. Beyond 1 there is no
# value, and NaN's bits are beyond those of 1.
_ARC = """
    let size = abs(x);
    let outside = bitcast<{U}>(size) > {U}(0x3f800000u);
    let far = size > {T}(0.5);
    let square = select(size * size, {T}(0.5) * ({T}(1.0) - size), far);
    let root = select(size, sqrt(square), far);
    let arc = root + root * square * ({T}(1.6666752422e-1) + square * ({T}(7.4953002686e-2)
        + square * ({T}(4.5470025998e-2) + square * ({T}(2.4181311049e-2)
        + square * {T}(4.2163199048e-2)))));
    let below = bitcast<{U}>(x) >= {U}(0x80000000u);
"""

ASIN = f"""
fn asin_{{S}}(x: {{T}}) -> {{T}} {{
{_ARC.strip(chr(10))}
    let angle = select(arc, {{T}}(1.5707963267948966) - {{T}}(2.0) * arc, far);
    return select(select(angle, -angle, below), {{T}}(bitcast<f32>(nan_bits)), outside);
}}
"""

ACOS = f"""
fn acos_{{S}}(x: {{T}}) -> {{T}} {{
{_ARC.strip(chr(10))}
    let twice = {{T}}(2.0) * arc;
    let beyond = select(twice, {{T}}(3.141592653589793) - twice, below);
    let within = {{T}}(1.5707963267948966) - select(arc, -arc, below);
    return select(select(within, beyond, far), {{T}}(bitcast<f32>(nan_bits)), outside);
}}
"""

# Of |x|, of its reciprocal's opposite, or of what remains after an eighth of a turn.
ATAN = """
fn atan_{S}(x: {T}) -> {T} {
    let size = abs(x);
    let far = size > {T}(2.414213562373095);
    let middle = size > {T}(0.4142135623730950);
    let near = select(size, (size - {T}(1.0)) / (size + {T}(1.0)), middle);
    let rest = select(near, {T}(-1.0) / size, far);
    let begun = select({T}(), {T}(0.7853981633974483), middle);
    let start = select(begun, {T}(1.5707963267948966), far);
    let square = rest * rest;
    let series = {T}(-3.33329491539e-1) + square * ({T}(1.99777106478e-1)
        + square * ({T}(-1.38776856032e-1) + square * {T}(8.05374449538e-2)));
    let angle = start + (rest + rest * square * series);
    let signed = select(angle, -angle, bitcast<{U}>(x) >= {U}(0x80000000u));
    let nothing = bitcast<{U}>(size) > {U}(0x7f800000u);
    return select(signed, {T}(bitcast<f32>(nan_bits)), nothing);
}
"""

ATANH = """
fn atanh_{S}(x: {T}) -> {T} {
    let size = bitcast<{U}>(abs(x));
    let one = {U}(0x3f800000u);
    let square = x * x;
    let series = x + x * square * ({T}(3.33337300303e-1) + square * ({T}(1.99782164500e-1)
        + square * ({T}(1.46691431730e-1) + square * ({T}(8.24370301058e-2)
        + square * {T}(1.81740078349e-1)))));
    let far = {T}(0.5) * log(({T}(1.0) + x) / ({T}(1.0) - x));
    let within = select(far, series, square < {T}(0.25));
    let inside = select(within, x * {T}(bitcast<f32>(inf_bits)), size == one);
    return select(inside, {T}(bitcast<f32>(nan_bits)), size > one);
}
"""

# The rest of an angle after quarter turns, and its sine and cosine, as WGSL promises an absolute
# error of 2^-11 within pi and nothing beyond it. pi / 2 stands in parts of seven bits, whose
# products with up to 2^17 quarter turns are exact. Beyond those, the mantissa is multiplied by the
# 96 bits of 2 / pi that matter (Payne and Hanek); of the product, the 64 highest bits stay.
_TWO_OVER_PI = (0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
                0xFE5163AB)  # fmt: skip


def _word(first: int) -> str:
    """The WGSL for the word of 2 / pi with the number first + place >> 5."""
    text = f"{{U}}({_TWO_OVER_PI[first]}u)"
    for step in range(1, 5):
        word = f"{{U}}({_TWO_OVER_PI[first + step]}u)"
        text = f"select({text}, {word}, (place >> {{U}}(5u)) == {{U}}({step}u))"
    return text


def _high(name: str, word: str) -> str:
    """The WGSL for the 32 high bits of mantissa * word."""
    return f"""
        let {name}1 = (mantissa >> half) * ({word} & low)
            + (((mantissa & low) * ({word} & low)) >> half);
        let {name}2 = (mantissa & low) * ({word} >> half) + ({name}1 & low);
        let {name} = (mantissa >> half) * ({word} >> half) + ({name}1 >> half) + ({name}2 >> half);
"""


_TURN = f"""
    let size = abs(x);
    let n = round(size * {{T}}(0.63661977));
    let r1 = size - n * {{T}}(1.5625);
    let r2 = r1 - n * {{T}}(0.0081787109375);
    let r3 = r2 - n * {{T}}(0.00011730194091796875);
    let r4 = r3 - n * {{T}}(3.129243850708008e-07);
    var rest = r4 - n * {{T}}(9.920935796805404e-10);
    let near = size < {{T}}(200000.0);
    var turns = {{U}}(select({{T}}(), n, near));
    let words = bitcast<{{U}}>(size);
    if (!all(near)) {{
        let half = {{U}}(16u);
        let low = {{U}}(0xffffu);
        let mantissa = (words & {{U}}(0x7fffffu)) | {{U}}(0x800000u);
        let place = (words >> {{U}}(23u)) - {{U}}(120u);
        let left = place & {{U}}(31u);
        let right = {{U}}(31u) - left;
        let w0 = {_word(0)};
        let w1 = {_word(1)};
        let w2 = {_word(2)};
        let w3 = {_word(3)};
        let v0 = (w0 << left) | ((w1 >> {{U}}(1u)) >> right);
        let v1 = (w1 << left) | ((w2 >> {{U}}(1u)) >> right);
        let v2 = (w2 << left) | ((w3 >> {{U}}(1u)) >> right);
        {_high("h1", "v1").strip()}
        {_high("h2", "v2").strip()}
        let lower = mantissa * v1 + h2;
        let upper = mantissa * v0 + h1 + select({{U}}(), {{U}}(1u), lower < h2);
        let quarters = (upper + {{U}}(0x20000000u)) >> {{U}}(30u);
        let signed = upper - (quarters << {{U}}(30u));
        let less = signed >= {{U}}(0x80000000u);
        let carry = select({{U}}(), {{U}}(1u), lower == {{U}}());
        let high_part = select(signed, ~signed + carry, less);
        let low_part = select(lower, {{U}}() - lower, less);
        let angle = {{T}}(high_part) * {{T}}(1.4629180792671596e-09)
            + {{T}}(low_part) * {{T}}(3.4061215800304136e-19);
        rest = select(select(angle, -angle, less), rest, near);
        turns = select(quarters, turns, near);
    }}
    let square = rest * rest;
    let sine = rest + rest * square * ({{T}}(-1.6666654611e-1) + square * ({{T}}(8.3321608736e-3)
        - square * {{T}}(1.9515295891e-4)));
    let cosine = {{T}}(1.0) - {{T}}(0.5) * square + square * square * ({{T}}(4.166664568298827e-2)
        + square * ({{T}}(-1.388731625493765e-3) + square * {{T}}(2.443315711809948e-5)));
    let endless = words > {{U}}(0x7f7fffffu);
    let nothing = {{T}}(bitcast<f32>(nan_bits));
"""

SIN = f"""
fn sin_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let quarter = turns & {{U}}(3u);
    let value = select(sine, cosine, (quarter & {{U}}(1u)) == {{U}}(1u));
    let below = bitcast<{{U}}>(x) >= {{U}}(0x80000000u);
    let negative = (quarter > {{U}}(1u)) != below;
    return select(select(value, -value, negative), nothing, endless);
}}
"""

COS = f"""
fn cos_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let quarter = (turns + {{U}}(1u)) & {{U}}(3u);
    let value = select(sine, cosine, (quarter & {{U}}(1u)) == {{U}}(1u));
    return select(select(value, -value, quarter > {{U}}(1u)), nothing, endless);
}}
"""

TAN = f"""
fn tan_{{S}}(x: {{T}}) -> {{T}} {{
{_TURN.strip(chr(10))}
    let value = select(sine / cosine, -cosine / sine, (turns & {{U}}(1u)) == {{U}}(1u));
    let below = bitcast<{{U}}>(x) >= {{U}}(0x80000000u);
    return select(select(value, -value, below), nothing, endless);
}}
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
    "asin": ASIN,
    "acos": ACOS,
    "atan": ATAN,
    "atanh": ATANH,
    "sin": SIN,
    "cos": COS,
    "tan": TAN,
    "multiply_high": MULTIPLY_HIGH,
}
"""By the primitive that each computes."""

APPROXIMATED = frozenset(("exp", "sinh", "cosh", "tanh"))
"""The primitives that are computed as in codegen/approximations.py."""

LESS_PRECISE = frozenset(
    ("exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "atanh")
)
"""Those for which WGSL has a function that is less precise, and otherwise right within its range.
WGSL's pow, log and tanh are wrong for some operands."""
