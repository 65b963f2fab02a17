"""Every function that SPU's `jnp_testbase.py` names exists, or is refused by name."""

from __future__ import annotations

import hushwire.numpy as hnp
import pytest

SPU = """abs add all angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin array_equal
array_equiv atleast_1d atleast_2d atleast_3d bitwise_and bitwise_count bitwise_not bitwise_or bitwise_xor cbrt ceil
conj conjugate copysign cos cosh deg2rad divide divmod ediff1d equal exp exp2 expm1 fabs fix float_power floor
floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot i0 imag invert isclose iscomplex isfinite
isinf isnan isneginf isposinf isreal isrealobj kron lcm ldexp left_shift less less_equal log log10 log1p log2
logaddexp logaddexp2 logical_and logical_not logical_or logical_xor max maximum mean median min minimum mod modf
multiply nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd nansum nanvar negative nextafter not_equal outer
polyval positive power prod ptp rad2deg ravel real reciprocal remainder right_shift rint sign signbit sin sinc sinh
sort sqrt square std subtract sum take tan tanh top_k transpose true_divide trunc unwrap var""".split()

NEED_NAN = {name for name in SPU if name.startswith("nan")} | {
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
}


@pytest.mark.parametrize("name", SPU)
def test_only_what_needs_nan_or_infinity_is_refused(name: str) -> None:
    if name in NEED_NAN:
        assert name in hnp.REFUSED
    else:
        assert callable(getattr(hnp, name)), name
        assert getattr(hnp, name).__doc__, name


def test_every_function_says_what_it_computes() -> None:
    assert len(hnp.FUNCTIONS) > 200
    for name, function in hnp.FUNCTIONS.items():
        text = (function.__doc__ or "").split(">>>")[0].strip()
        assert text.endswith((".", ")")), name
