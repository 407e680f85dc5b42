"""Functions of numbers, along axes and at places, and methods that change tensors in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case, classes, drawn

POSITIVE = np.abs(drawn("positive", (3, 4))) + 0.1
INSIDE = 1 / (1 + np.exp(-drawn("inside", (3, 4))))
LARGE = np.array([-12.0, -3.0, -0.5, 0.0, 0.7, 4.0, 14.0, 40.0], np.float32)

for _name in ("erfcx", "expit", "i0", "i0e", "i1", "i1e", "log_ndtr", "ndtr"):
    case(f"special.{_name}", lambda t, n=_name: lambda x: _special(t, n)(x), (3, 4))
for _name in ("i0e", "i1e"):
    case(f"special.{_name}-large", lambda t, n=_name: lambda x: _special(t, n)(x), LARGE)
case("special.entr", lambda t: lambda x: _special(t, "entr")(x), LARGE, gradients=False)
case("functions.ldexp-down", lambda t: lambda x: t.ldexp(x, t.tensor([-3.0])), (3, 4))
case("special.log_ndtr-large", lambda t: lambda x: _special(t, "log_ndtr")(x), LARGE[:-1])
for _name in ("entr", "gammaln", "psi", "digamma"):
    case(f"special.{_name}-positive", lambda t, n=_name: lambda x: _special(t, n)(x), POSITIVE)
case("special.ndtri", lambda t: lambda p: _special(t, "ndtri")(p), INSIDE, rtol=1e-4)
case("special.xlog1py", lambda t: lambda x, y: _special(t, "xlog1py")(x, y), (3, 4), POSITIVE)
case("special.zeta", lambda t: lambda x, q: _special(t, "zeta")(x, q), POSITIVE + 1, POSITIVE,
     gradients=False)  # fmt: skip
for _n in (1, 2, 3):
    case(f"special.polygamma-{_n}", lambda t, n=_n: lambda x: t.polygamma(n, x), POSITIVE + 0.3)
case("special.multigammaln", lambda t: lambda x: _special(t, "multigammaln")(x, 3), POSITIVE + 1)
for _name in ("gammainc", "gammaincc"):
    case(f"special.{_name}", lambda t, n=_name: lambda a, x: _special(t, n)(a, x),
         POSITIVE * 3, POSITIVE.T.reshape(3, 4) * 3, constant=(0,))  # fmt: skip


def _special(t: Any, name: str) -> Any:
    """torch.special's function, which Tallow has among others."""
    if hasattr(t, "special"):
        return getattr(t.special, name)
    from tallow.functions import special

    return getattr(special, name)


UNARY: dict[str, Any] = {
    "as_strided": lambda t, x: t.as_strided(x, (2, 3), (1, 2), 1) + x.as_strided((1,), (1,)),
    "block_diag": lambda t, x: t.block_diag(x, x[0], x[0, 0]),
    "cartesian_prod": lambda t, x: t.cartesian_prod(x[0], x[1], x[2, :2]),
    "cartesian_prod-one": lambda t, x: t.cartesian_prod(x[0]),
    "combinations": lambda t, x: t.combinations(x[0]),
    "combinations-replaced": lambda t, x: t.combinations(x[0], 3, with_replacement=True),
    "corrcoef": lambda t, x: t.corrcoef(x) + x.corrcoef(),
    "cumulative_trapezoid": lambda t, x: t.cumulative_trapezoid(x, dx=0.5, dim=0),
    "cumulative_trapezoid-places": lambda t, x: t.cumulative_trapezoid(x, x[0] * 2),
    "diag_embed": lambda t, x: t.diag_embed(x, 1, 0, 2),
    "diag_embed-below": lambda t, x: t.diag_embed(x, offset=-2),
    "dist": lambda t, x: t.dist(x, x * 2 + 1, 3) + x.dist(x.exp()),
    "dsplit": lambda t, x: x.reshape(1, 2, 6).dsplit(3),
    "float_power": lambda t, x: t.float_power(x.abs(), 1.5).float(),
    "frexp": lambda t, x: tuple(t.frexp(x * 100)),
    "gradient": lambda t, x: t.gradient(x),
    "gradient-edges": lambda t, x: t.gradient(x, spacing=(0.5, 2.0), edge_order=2),
    "gradient-places": lambda t, x: t.gradient(
        x, spacing=(t.tensor([0.0, 1.0, 3.0, 3.5]),), dim=1, edge_order=2
    ),
    "gradient-one": lambda t, x: t.gradient(x, spacing=0.1, dim=[1]),
    "hsplit": lambda t, x: t.hsplit(x, 2) + t.hsplit(x[0], [1, 3]),
    "is_complex": lambda t, x: x * float(t.is_complex(x)),
    "is_nonzero": lambda t, x: x * float(t.is_nonzero(t.tensor([2.0]))),
    "ldexp": lambda t, x: t.ldexp(x, t.tensor([3, 2, 0, 1])),
    "logcumsumexp": lambda t, x: t.logcumsumexp(x * 30, 1) + (x * 30).logcumsumexp(0),
    "pdist": lambda t, x: t.pdist(x, 3.0),
    "pdist-2": lambda t, x: t.pdist(x),
    "promote_types": lambda t, x: x.to(t.promote_types(t.int32, t.float32)),
    "renorm": lambda t, x: t.renorm(x, 2, 0, 1.0) + x.renorm(1, 1, 0.7),
    "select_scatter": lambda t, x: t.select_scatter(x, x[0] * 3, 0, -1),
    "sgn": lambda t, x: t.sgn(x) * x,
    "slice_scatter": lambda t, x: t.slice_scatter(x, x[:, :2] * 3, 1, 1, None, 2),
    "diagonal_scatter": lambda t, x: t.diagonal_scatter(x, x[0, :3] * 3, 1),
    "split_with_sizes": lambda t, x: t.split_with_sizes(x, [1, 3], 1) + x.split_with_sizes([1, 2]),
    "addr": lambda t, x: t.addr(x, x[:, 0], x[0], beta=2, alpha=3) + x.addr(x[:, 0], x[0]),
    "addbmm": lambda t, x: t.addbmm(x[:, :3], x.reshape(2, 3, 2), x.reshape(2, 2, 3), alpha=2),
    "diagflat": lambda t, x: t.diagflat(x[:2], -1) + x[:2].diagflat(1),
    "fmax": lambda t, x: t.fmax(x, x[0]) + x.fmin(x[1]),
    "infinities": lambda t, x: [
        each.int() for each in (
            t.isposinf(x / 0), t.isneginf(x / 0), t.isreal(x), (x > 0).bitwise_not()
        )
    ],
    "msort": lambda t, x: t.msort(x) + x.msort(),
    "row_stack": lambda t, x: t.row_stack((x, x[0])),
    "rsub": lambda t, x: t.rsub(x, x[0], alpha=2),
    "arcs": lambda t, x: t.arcsin(x.sigmoid()) + x.sigmoid().arccos() + t.arctan(x) + x.arcsinh()
    + t.arctanh(x.sigmoid()) + (x.abs() + 1.1).arccosh() + x.fix(),
    "trapz": lambda t, x: t.trapz(x, x[0] * 2),
    "vsplit": lambda t, x: t.vsplit(x, [1]) + x.vsplit(3),
    "index_put": lambda t, x: t.index_put(
        x, (t.tensor([0, 0, 2]), t.tensor([1, 1, 3])), x[0, :3] * 2, accumulate=True
    ),
    "index_put-one": lambda t, x: t.index_put(x, (t.tensor([2, 0]),), x[1]),
    "put": lambda t, x: x.put(t.tensor([[0, -1], [3, 3]]), x[:2, :2], accumulate=True),
    "take": lambda t, x: x.take(t.tensor([[0, -1], [3, 3]])),
    "mvlgamma": lambda t, x: t.mvlgamma(x.abs() + 1.5, 2) + (x.abs() + 2).mvlgamma(3),
    "stride": lambda t, x: x * x.stride(0) + x.stride()[1] + x.storage_offset() + x.element_size(),
    "new": lambda t, x: x + x.new([1.0, 2.0, 3.0, 4.0]) + x.new_tensor([2.0]),
}  # fmt: skip
for _name, _call in UNARY.items():
    case(f"functions.{_name}", lambda t, call=_call: lambda x: call(t, x), (3, 4))

# PyTorch has no right gradients of these.
for _name, _call in {
    "vander": lambda t, x: t.vander(x[0]),
    "vander-increasing": lambda t, x: t.vander(x[0], 3, increasing=True),
    "sgn_": lambda t, x: (x * 1.0).sgn_(),
}.items():
    case(f"functions.{_name}", lambda t, call=_call: lambda x: call(t, x), (3, 4), gradients=False)

for _reduce in ("prod", "mean", "amax", "amin"):
    for _own in (True, False):
        case(
            f"functions.index_reduce-{_reduce}-{_own}",
            lambda t, r=_reduce, own=_own: lambda x, s: t.index_reduce(
                x, 0, t.tensor([0, 2, 0]), s, r, include_self=own
            ),
            (4, 2), (3, 2),
        )  # fmt: skip

WHOLE: dict[str, Any] = {
    "gcd": lambda t, x, y: t.gcd(x, y) + x.gcd(y),
    "lcm": lambda t, x, y: t.lcm(x, y),
    "histc": lambda t, x, y: t.histc(x.float(), 5) + (x * 1.0).histc(bins=5, min=2, max=7),
    "histogram": lambda t, x, y: (
        tuple(t.histogram(x.float(), 5))
        + tuple((x * 1.0).histogram(4, range=(1.0, 7.0), weight=y.float().abs(), density=True))
        + tuple(t.histogram(x.float(), t.tensor([0.0, 2.0, 3.5])))
    ),
    "unravel_index": lambda t, x, y: t.unravel_index(x + 3, (2, 5, 4)),
    "histc-alone": lambda t, x, y: t.histc(x.float() * 0 + 3, 4),
    "unique_consecutive": lambda t, x, y: t.unique_consecutive(
        (x // 4).flatten(), return_inverse=True, return_counts=True
    ),
    "unique_consecutive-axis": lambda t, x, y: t.unique_consecutive(
        x[t.tensor([0, 0, 1, 2, 2])], return_inverse=True, return_counts=True, dim=0
    ),
}
for _name, _call in WHOLE.items():
    case(
        f"functions.{_name}", lambda t, call=_call: lambda x, y: call(t, x, y),
        classes("whole", (3, 40), 13) - 3, classes("others", (3, 40), 60) - 6, gradients=False,
    )  # fmt: skip
case("functions.nextafter", lambda t: lambda x, y: t.nextafter(x, y), (3, 4), (3, 4),
     gradients=False, rtol=1e-8, atol=0.0)  # fmt: skip

for _name in ("bartlett", "blackman", "hamming", "hann", "kaiser"):
    case(
        f"functions.{_name}_window",
        lambda t, n=_name: lambda x: [
            getattr(t, f"{n}_window")(count, periodic=periodic) * x[0]
            for count in (0, 1, 2, 7) for periodic in (True, False)
        ],
        (1,),
    )  # fmt: skip


def _changed(name: str, *args: Any) -> Any:
    """The result, and the tensor that was changed."""

    def build(t: Any) -> Any:
        def run(x: Any) -> Any:
            changed = x * 1.0
            other = [x.detach().abs() + 0.5 if each == "x" else each for each in args]
            return getattr(changed, name)(*other), changed

        return run

    return build


for _name, *_args in (
    ("fmod_", 0.3), ("remainder_", 0.3), ("expm1_",), ("log1p_",), ("xlogy_", "x"), ("sinh_",),
    ("cosh_",), ("tan_",), ("atan_",),
    ("arctan2_", "x"), ("erf_",), ("exp2_",), ("erfc_",), ("hypot_", "x"), ("atan2_", "x"),
    ("copysign_", "x"),
    ("frac_",), ("deg2rad_",), ("rad2deg_",), ("sinc_",), ("cumprod_", 1), ("true_divide_", 3.0),
    ("multiply_", 3.0), ("subtract_", 3.0), ("negative_",), ("absolute_",), ("renorm_", 2, 0, 0.3),
    ("i0_",),
):  # fmt: skip
    _shape = np.abs(drawn(f"of {_name}", (3, 4))) if _name in ("log1p_", "xlogy_") else (3, 4)
    case(f"functions.{_name}", _changed(_name, *_args), _shape)
for _name in ("eq_", "ne_", "lt_", "le_", "gt_", "ge_", "less_", "greater_equal_", "not_equal_"):
    case(f"functions.{_name}", _changed(_name, 0.2), (3, 4), gradients=False)
for _name, *_args in (
    ("unsqueeze_", 1), ("squeeze_",), ("squeeze_", 0), ("transpose_", 0, 2), ("swapaxes_", 0, 1),
):  # fmt: skip
    case(f"functions.{_name}-{_args}", _changed(_name, *_args), (1, 3, 4))
case("functions.t_", _changed("t_"), (3, 4))


def _operators(t: Any) -> Any:
    def run(x: Any, y: Any) -> Any:
        found = []
        for name in ("__iand__", "__ior__", "__ixor__"):
            changed = x + 0
            assert getattr(changed, name)(y) is changed
            found.append(changed)
        changed, other = x + 0, x + 0
        changed **= 2
        other <<= 1
        return [*found, changed, other]

    return run


case("functions.operators", _operators, classes("left", (3, 4), 8), classes("right", (3, 4), 8),
     gradients=False)  # fmt: skip
case(
    "functions.written_",
    lambda t: (
        lambda x: (
            (x * 1.0).index_put_((t.tensor([0, 2]),), x[1] * 2),
            (x * 1.0).put_(t.tensor([1, 5]), x[0, :2]),
            (x * 1.0).index_reduce_(0, t.tensor([1, 1]), x[:2], "amax"),
        )
    ),
    (3, 4),
)
