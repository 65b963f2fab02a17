"""The programs of `examples/python` against plain NumPy code: in the clear by the evaluator, and some
among three parties, with the same bits as the evaluator."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

import hushwire as hw

PLACE = Path(__file__).parents[4] / "examples" / "python"
PROGRAMS = sorted(path.stem for path in PLACE.glob("*.py"))
QUICK = ["millionaires", "salaries", "portfolio"]
"""The programs that the short test runs among parties."""


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", PLACE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(found: Any, wanted: Any, tolerance: float) -> None:
    if isinstance(wanted, dict):
        assert set(found) == set(wanted)
        for name, value in wanted.items():
            compare(found[name], value, tolerance)
        return
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(wanted, float), rtol=tolerance, atol=tolerance
    )


def test_there_are_twenty_programs() -> None:
    assert len(PROGRAMS) >= 20


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_what_plain_code_does(name: str) -> None:
    module = load(name)
    for seed in (1, 2):
        data = module.data(np.random.default_rng(seed))
        found = module.PROGRAM.evaluate(**data)
        compare(found, module.plain(**data), getattr(module, "TOLERANCE", 1e-8))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in PROGRAMS],
)
def test_three_parties_compute_the_bits_of_the_evaluator(name: str) -> None:
    module = load(name)
    data = module.data(np.random.default_rng(3))
    in_the_open = module.PROGRAM.evaluate(**data)
    with hw.local(parties=3) as session:
        found = module.PROGRAM(session, **data)
    compare(found, in_the_open, 0)


@pytest.mark.parametrize("name", ["auction", "decision_tree"])
def test_two_parties_compute_the_same_bits(name: str) -> None:
    module = load(name)
    data = module.data(np.random.default_rng(3))
    with hw.local(parties=2) as session:
        found = module.PROGRAM(session, **data)
    compare(found, module.PROGRAM.evaluate(**data), 0)
