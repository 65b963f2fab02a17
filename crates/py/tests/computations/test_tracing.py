"""Traces: refusals and messages, the text, and the public facts of arrays under construction."""

from __future__ import annotations

import pickle
from typing import Annotated, Any

import hushwire as hw
import hushwire.numpy as hnp
import pytest
from hushwire.tracing import Computation, ComputationError

REAL = hw.fixed(64, 32)
TYPES = {
    "x": hw.i64[4] @ "ann",
    "f": REAL[4] @ "bob",
    "s": hw.i64["n"] @ "ann",
    "b": hw.bool_[4] @ "bob",
}


def traced(function: Any, types: dict[str, Any] = TYPES) -> str:
    return Computation.of(function, types, hw.out("ann"), name="f").text


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, **_: 1 if x[0] > 3 else 2, "hw.where"),
        (lambda x, **_: x and 3, "hw.where"),
        (lambda x, **_: int(x[0]), "return it"),
        (lambda x, **_: float(x[0]), "return it"),
        (lambda x, **_: [1, 2, 3, 4][x[0]], "take"),
        (lambda x, **_: x.tolist(), "return it"),
        (lambda x, **_: x.item(), "return it"),
        (lambda x, **_: pickle.dumps(x), "text"),
        (lambda x, b, **_: x[b], "hw.where"),
        (lambda x, **_: x.__setitem__(0, 3), "hw.where"),
        (lambda s, **_: list(s), "n"),
        (lambda s, **_: s[1:], "length n"),
        (lambda s, **_: s[-1], "from the front"),
        (lambda x, s, **_: x + s, "broadcasting"),
        (lambda x, **_: x.reshape(3), "number of elements"),
        (lambda x, **_: x.sum(axis=3), "axes"),
        (lambda x, f, **_: f & f, "integers"),
        (lambda b, **_: -b, "truth values"),
        (lambda x, **_: x / 0, "infinity"),
        (lambda x, **_: x**-1, "fixed"),
        (lambda x, **_: x + "a", "arrays"),
        (lambda x, **_: x + float("nan"), "NaN"),
        (lambda x, **_: x + 1j, "arrays"),
        (lambda x, **_: hnp.zeros(2, "complex128"), "no type"),
        (lambda x, **_: hnp.bincount(x), "minlength"),
        (lambda x, f, **_: hnp.histogram(x, f), "public"),
        (lambda x, **_: hnp.sqrt(x.astype(hw.fixed(96, 60))), "hw.fixed(64, 32)"),
        (lambda x, **_: x.astype("u64") + x.astype("i64"), "u64"),
        (lambda x, **_: x.nonesuch, "nonesuch"),
    ],
)
def test_a_mistake_is_refused_with_a_remedy(function: Any, words: str) -> None:
    with pytest.raises((ComputationError, AttributeError)) as caught:
        traced(function)
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize("name", sorted(hnp.REFUSED))
def test_what_needs_nan_is_refused_by_name(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(hnp, name)
    np = pytest.importorskip("numpy")
    function = getattr(np, name, None)
    if function is None or not hasattr(function, "__module__") or name.startswith("save"):
        return

    def call(x: Any, **_: Any) -> Any:
        for count in (2, 1, 3, 4):
            try:
                return function(*[x] * count)
            except TypeError as error:
                if isinstance(error, ComputationError):
                    raise

    with pytest.raises(ComputationError, match=name):
        traced(call)


def test_numpys_own_functions_make_the_same_computation() -> None:
    np = pytest.importorskip("numpy")
    one = (
        "abs ceil conjugate floor exp log sqrt sin cos tan arcsin arctan tanh square sign rint cbrt sum mean "
        "min max var std median sort argsort cumsum diff ravel transpose any all argmax prod sinc i0 flip".split()
    )
    two = (
        "add subtract multiply divide maximum minimum greater equal hypot arctan2 logaddexp power floor_divide "
        "remainder fmod copysign outer kron dot isclose array_equal".split()
    )
    for name in one:
        assert traced(lambda f, **_: getattr(np, name)(f)) == traced(
            lambda f, **_: getattr(hnp, name)(f)
        ), name
    for name in two:
        ours, theirs = getattr(hnp, name), getattr(np, name)
        assert traced(lambda f, **_: theirs(f, f)) == traced(lambda f, **_: ours(f, f)), name
    for name in "inv solve det norm cholesky eigh".split():
        ours, theirs = getattr(hnp.linalg, name), getattr(np.linalg, name)
        args = 2 if name == "solve" else 1

        def square(f: Any) -> list[Any]:
            return [hnp.outer(f, f) + hnp.eye(4)] * args

        first = lambda made: made[0] if isinstance(made, tuple) else made  # noqa: E731
        assert traced(lambda f, **_: first(theirs(*square(f)))) == traced(
            lambda f, **_: first(ours(*square(f)))
        ), name
    assert traced(lambda f, **_: np.add.reduce(f)) == traced(lambda f, **_: hnp.sum(f, axis=0))
    assert traced(lambda f, **_: np.array([1.0, 2, 3, 4]) * f) == traced(
        lambda f, **_: f * [1.0, 2, 3, 4]
    )


def test_values_show_types_and_never_elements() -> None:
    seen = {}

    def function(x: Any, s: Any, **_: Any) -> Any:
        seen.update(
            repr=repr(x), len=len(x), shape=s.shape, sight=(x * 2).sight, dtype=str(x.dtype)
        )
        return x

    traced(function)
    assert seen == {
        "repr": "<hushwire i64[4], ann>",
        "len": 4,
        "shape": ("n",),
        "sight": "ann",
        "dtype": "i64",
    }


@hw.computation
def risk(price: hw.u64["n"] @ "shop", amount: hw.u64["n"] @ "client") -> hw.out("shop", "client"):  # type: ignore[valid-type]
    total = (price * amount).sum()
    return hw.where(total > 10_000, total, 0)


RISK = """computation risk
members shop, client
symbols n

input price: u64[n] from shop
input amount: u64[n] from client

total = sum(price * amount)

output result = select(total > 10000, total, const(u64, 0)) to shop, client
"""


def test_the_text_reads_as_the_function_does() -> None:
    assert risk.text == RISK
    assert risk.text == risk.traced.text()
    assert "shop" in risk.picture() and risk.picture().startswith("<svg")
    assert repr(risk) == "<hushwire computation risk(price: u64[n], amount: u64[n])>"


def test_types_owners_promises_and_learners() -> None:
    @hw.computation(name="shares", real=hw.fixed(48, 20))
    def function(
        a: Annotated[Any, hw.fixed(48, 20)["n", 2] @ "ann"],
        b: hw.u8.within(0, 130) @ "bob",  # type: ignore[valid-type]
        c: hw.i32[3].public,  # type: ignore[valid-type]
        rate: float = 0.5,
    ) -> {"p": hw.out("ann"), "q": hw.out("bob", "cleo")}:  # type: ignore[valid-type]
        return {"p": a.sum(axis=1) * rate, "q": c + b.astype(hw.i32)}

    assert function.text.splitlines()[:8] == [
        "computation shares", "members ann, bob, cleo", "symbols n", "", "input a: fixed(48, 20)[n, 2] from ann",
        "input b: u8 in 0..131 from bob", "input c: i32[3] public", "",
    ]  # fmt: skip
    assert "output q" in function.text and "to bob, cleo" in function.text

    @hw.computation
    def pair(x: hw.i64 @ "ann") -> (hw.out("ann", name="twice"), hw.out("bob")):  # type: ignore[valid-type]
        return 2 * x, x

    assert [line for line in pair.text.splitlines() if line.startswith("output")] == [
        "output twice = 2 * x to ann", "output result1 = x to bob",
    ]  # fmt: skip


def test_a_function_without_types_or_learners_is_refused() -> None:
    with pytest.raises(ComputationError, match="nobody's"):
        _ = hw.computation(_unowned).text
    with pytest.raises(ComputationError, match="no type"):
        _ = hw.computation(_untyped).text
    with pytest.raises(ComputationError, match="who learns"):
        _ = hw.computation(_unlearned).text
    with pytest.raises(ComputationError, match="session"):
        risk(price=[1], amount=[2])
    with pytest.raises(TypeError, match="no input"):
        risk.evaluate(price=[1], amounts=[2])
    with pytest.raises(ComputationError, match="no length m"):
        risk.cost(m=3)
    with pytest.raises(ComputationError, match="under way"):
        hnp.zeros(3)


def _unowned(x: hw.u64["n"]) -> hw.out("ann"):  # type: ignore[valid-type]
    return x


def _untyped(x) -> hw.out("ann"):  # type: ignore[no-untyped-def, valid-type]
    return x


def _unlearned(x: hw.u64["n"] @ "ann"):  # type: ignore[no-untyped-def, valid-type]
    return x


def test_one_computation_is_part_of_another() -> None:
    @hw.computation
    def mean(x: hw.i64[4] @ "ann") -> hw.out("ann"):  # type: ignore[valid-type]
        return x.mean()

    text = traced(lambda x, **_: mean(x) * 2)
    assert "mean(" in text and "computation f" in text
    with pytest.raises(ComputationError, match="another"):
        leaked: list[Any] = []
        traced(lambda x, **_: leaked.append(x) or x)
        traced(lambda x, **_: x + leaked[0])


def test_equal_operations_are_computed_once() -> None:
    text = traced(lambda f, **_: hnp.sqrt(f) + hnp.sqrt(f))
    assert text.count("sqrt(") == 1


def test_a_mistake_is_an_error_of_the_package() -> None:
    with pytest.raises(hw.UsageError) as caught:
        traced(lambda x, **_: bool(x))
    assert isinstance(caught.value, TypeError) and caught.value.step == "tracing the computation"
    assert "truth value" in caught.value.cause and "hw.where" in caught.value.remedy
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (ComputationError, str(caught.value))


def test_the_digest_is_that_of_the_operations() -> None:
    def one(x: Any, **_: Any) -> Any:
        doubled = x * 2
        return doubled + doubled

    def other(x: Any, **_: Any) -> Any:
        twice = x * 2
        return twice + x * 2

    first, second = (Computation.of(f, TYPES, hw.out("ann"), name="f") for f in (one, other))
    assert first.digest == second.digest and "doubled" in first.text and "twice" in second.text
    third = Computation.of(lambda x, **_: x * 4, TYPES, hw.out("ann"), name="f")
    assert third.digest != first.digest
    # The library reads what the trace has written.
    assert hw.Computation(first.native.text).digest == first.digest


def test_a_price_is_one_of_a_run() -> None:
    few, many = risk.cost(n=10), risk.cost(n=1000)
    assert 0 < few["bytes_sent"] < many["bytes_sent"] and few["rounds"] > 0
    assert set(many["seconds"]) == {"local", "lan", "wan"}
    assert risk.cost("two", n=10)["bytes_sent"] != few["bytes_sent"]
    assert risk.explain().startswith("risk") and "total" not in risk.explain()
    assert f"{risk.cost()['bytes_sent']:,}" in risk._repr_html_()


def test_a_run_among_three_parties() -> None:
    told: list[Any] = []
    with hw.local(parties=3) as session:
        assert int(risk(session, price=[250, 1200], amount=[30, 4])) == 12_300
        assert (
            int(risk(session, [250, 1200], [30, 3], progress=lambda *part: told.append(part)))
            == 11_100
        )
        with pytest.raises(hw.PartyError, match="as many rows"):
            risk(session, price=[1, 2, 3], amount=[1])


def test_promised_ranges_refuse_what_may_wrap() -> None:
    wide = {"x": hw.u64[4].within(0, 10**10) @ "ann"}
    with pytest.raises(hw.UsageError, match="may reach"):
        _ = Computation.of(lambda x: x.mean(), wide, hw.out("ann"), name="f").digest
    real = hw.fixed(64, 16)
    mean = Computation.of(lambda x: x.mean(), wide, hw.out("ann"), name="f", real=real)
    assert float(mean.evaluate(x=[10**10, 0, 0, 2])) == (10**10 + 2) / 4
    with pytest.raises(hw.PartyError) as caught:
        mean.evaluate(x=[10**10 + 1, 0, 0, 2])
    assert "10000000001" not in str(caught.value)
