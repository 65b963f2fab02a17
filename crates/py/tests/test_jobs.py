"""Jobs: intersections against sets, AES against OpenSSL, transfers, networks against NumPy."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushwire as hw

KEYS = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=20, unique=True)


@settings(max_examples=5)
@given(a=KEYS, b=KEYS)
def test_intersections_are_those_of_sets(a: list[str], b: list[str]) -> None:
    both = set(a) & set(b)
    assert hw.psi(a, b).size == len(both)
    assert hw.psi(a, b, reveal="items").items == [key for key in a if key in both]
    flags = hw.psi(pl.DataFrame({"key": a}), pd.DataFrame({"key": b}), reveal="flags", malicious=True)
    assert flags.flags == [key in both for key in a]
    assert len(flags.parties[1]) == 0


def test_sums_and_columns_of_intersections(tmp_path: Any) -> None:
    a = {"email": ["ann@x", "bob@x", "eve@x"]}
    b = {"email": ["eve@x", "ann@x"], "given": [5, 7]}
    found = hw.psi(a, b, "email", reveal="sum:given,count")
    assert (found.size, found.sum) == (2, 12)
    pl.DataFrame(b).write_csv(tmp_path / "b.csv")
    found = hw.psi(a, tmp_path / "b.csv", "email", reveal="columns:given")
    assert dict(zip(found.items, found.fields)) == {"ann@x": ["7"], "eve@x": ["5"]}
    with pytest.raises(hw.UsageError, match="nobody learns sum"):
        found.sum


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_aes_is_that_of_openssl(bits: int) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is absent")
    key, iv, data = bytes(range(bits // 8)), bytes(15) + b"\xff", bytes(range(256)) * 5 + b"end"
    wanted = subprocess.run(
        [openssl, "enc", f"-aes-{bits}-ctr", "-K", key.hex(), "-iv", iv.hex()],
        input=data,
        capture_output=True,
        check=True,
    ).stdout
    assert hw.aes(data, key=key, iv=iv) == wanted


def test_a_key_that_nobody_has(tmp_path: Any) -> None:
    keys = tmp_path / "mine.keys"
    secret = hw.aes(b"Dear Bob", keys=keys)
    assert secret != b"Dear Bob"
    assert hw.aes(secret, keys=keys, decrypt=True) == b"Dear Bob"
    with pytest.raises(hw.UsageError, match="directory of keys, or a key"):
        hw.aes(b"x")


def test_transfers_give_what_is_chosen() -> None:
    rng = np.random.default_rng(3)
    pairs = [(rng.bytes(16), rng.bytes(16)) for _ in range(100)]
    choices = [bool(c) for c in rng.integers(0, 2, 100)]
    assert hw.ot(pairs, choices) == [pair[c] for pair, c in zip(pairs, choices)]
    with pytest.raises(hw.UsageError, match="16 bytes"):
        hw.ot([(b"a", b"b")], [True])


def network() -> tuple[bytes, Any]:
    """A small perceptron as ONNX, by hand, and the function that it is."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(4, 8)).astype("f4"), rng.normal(size=(8, 3)).astype("f4")
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["input", "a"], ["h"]),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("MatMul", ["r", "b"], ["output"]),
        ],
        "net",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(a, "a"), numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    assert onnx
    return model.SerializeToString(), lambda x: np.maximum(x @ a, 0) @ b


@pytest.mark.parametrize("parties", [2, 3])
def test_networks_are_those_of_numpy(parties: int, tmp_path: Any) -> None:
    model, function = network()
    path = tmp_path / "net.onnx"
    path.write_bytes(model)
    x = np.array([[0.5, -1.0, 0.25, 2.0]], dtype="f4")
    y = hw.run_onnx(path, x, parties=parties)
    assert y.shape == (1, 3)
    assert np.abs(y - function(x)).max() < 0.01


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(hw.PartyError):
        hw.run_onnx(b"no model", [[1.0]])
    with pytest.raises(FileNotFoundError):
        hw.run_onnx("absent.onnx", [[1.0]])
    with pytest.raises(hw.UsageError, match="2 or 3 parties"):
        hw.run_onnx(b"", [[1.0]], parties=4)
