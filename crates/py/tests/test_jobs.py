"""Jobs: intersections against sets, AES against OpenSSL, transfers, networks against NumPy."""

from __future__ import annotations

import base64
import sys
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_file import perceptron

import hushwire as hw
from hushwire import _weights

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
    with pytest.raises(hw.UsageError, match="for sessions") as caught:
        hw.psi(hw.of("ann", a), b, "email")
    assert "the data frame itself" in caught.value.remedy


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


@pytest.mark.parametrize("parties", [2, 3])
def test_networks_are_those_of_numpy(parties: int, tmp_path: Any) -> None:
    model, function = perceptron(np.random.default_rng(4))
    path = tmp_path / "net.onnx"
    path.write_bytes(model)
    x = np.array([[0.5, -1.0, 0.25, 2.0]], dtype="f4")
    y = hw.run_onnx(path, x, parties=parties)
    assert y.shape == (1, 3)
    assert np.abs(y - function(x)).max() < 0.01
    with hw.local(parties=parties) as session:
        for _ in range(2):
            y = session.run_onnx(model, x)
            assert np.abs(y - function(x)).max() < 0.01
        # Lists of numbers are arrays, too.
        assert np.abs(session.run_onnx(path, x.tolist()) - function(x)).max() < 0.01


def test_networks_are_those_of_onnx_runtime() -> None:
    runtime = pytest.importorskip("onnxruntime")
    model, _ = perceptron(np.random.default_rng(5))
    x = np.random.default_rng(6).normal(size=(1, 4)).astype("f4")
    (wanted,) = runtime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    with hw.local() as session:
        assert np.abs(session.run_onnx(model, x) - wanted).max() < 0.01


def test_sessions_refuse_what_is_no_network(three: hw.Session) -> None:
    model, _ = perceptron(np.random.default_rng(4))
    with pytest.raises(hw.PartyError):
        three.run_onnx(b"no model", [[1.0]])
    with pytest.raises(hw.PartyError, match="shape"):
        three.run_onnx(model, [[1.0, 2.0]])
    with pytest.raises(hw.PartyError, match="not finite"):
        three.run_onnx(model, [[1.0, 2.0, float("nan"), 0.0]])
    with pytest.raises(hw.UsageError, match="input is missing"):
        three.run_onnx(model)
    with pytest.raises(hw.UsageError, match="owner is the client"):
        three.run_onnx(model, [[1.0]], owner="party1")


@settings(max_examples=5)
@given(a=KEYS, b=KEYS)
def test_intersections_on_a_session_are_those_of_sets(three: hw.Session, a: list[str], b: list[str]) -> None:
    # Repeated keys and rows without a key are treated as in the protocol of two parties.
    a, b = [*a, a[0], ""], [*b, " " + b[0]]
    both = set(a) & {key.strip() for key in b}
    both.discard("")
    assert three.psi(a, b).size == len(both)
    found = three.psi(a, b, reveal="items", to=["party0"])
    assert found.items == list(dict.fromkeys(key for key in a if key in both))
    assert found.items == hw.psi(a, b, reveal="items", to=["party0"]).items
    assert three.psi(a, pd.DataFrame({"key": b}), reveal="flags").flags == [key in both for key in a]
    amounts = {"key": b, "n": list(range(len(b)))}
    found = three.psi(a, amounts, reveal="sum:n,count")
    assert found.sum == sum(n for key, n in zip(b, amounts["n"]) if key.strip() in both)
    assert (found.size, found.sum) == (len(both), hw.psi(a, amounts, reveal="sum:n,count").sum)


@pytest.mark.parametrize("parties", [2, 3])
def test_keys_of_several_columns_and_columns_of_the_other_table(parties: int) -> None:
    a = {"mail": ["Ann@X.org", "bob@x", "no mail", "ab"], "n": ["1", "2", "3", "c"]}
    b = {"mail": ["bob@x", "ann@x.org", "a"], "n": [2, 1, "bc"], "city": ["Oslo", "Tartu", "Zug"]}
    with hw.local(parties=parties) as session:
        found = session.psi(a, b, ["mail", "n"], reveal="columns:city,n", forms=["email", "trim"])
        assert found.items == ["ann@x.org,1", "bob@x,2"]
        assert found.fields == [["Tartu", "1"], ["Oslo", "2"]]
        odd = {"key": ["x", "x"], "n": [1, 2]}
        with pytest.raises(hw.UsageError, match="row 1: its key is that of row 0"):
            session.psi(["x"], odd, reveal="columns:n")
        assert session.psi(["ab"], [], reveal="flags").flags == [False]
        assert session.psi([], []).size == 0
        for wrong, words in (
            ({"reveal": "everything"}, "cannot be revealed"),
            ({"reveal": "sum:n"}, "no request of a sum"),
            ({"reveal": "columns:n", "to": ["party0", "party1"]}, "for one party"),
            ({"reveal": "columns:n", "on": "city"}, "no column city"),
            ({"to": ["party2"]}, "nobody is to learn"),
            ({"on": "absent"}, "no column absent"),
            ({"on": "mail", "forms": ["nonsense"]}, "form"),
        ):
            with pytest.raises(hw.UsageError, match=words):
                session.psi(a, b, **{"on": "mail", **wrong})


@pytest.mark.parametrize(
    ("a", "b", "size"),
    [
        # A missing value is not a key, and matches no text.
        ([None, "a"], [None, "a"], 1),
        ([float("nan"), 1.0], ["nan", "1"], 1),
        # A data frame has floats where whole numbers are missing.
        ([1.0, None, 7.0], [1, 7], 2),
        ([1.5], ["1.5"], 1),
    ],
)
def test_keys_of_python_are_those_of_tables(a: Any, b: Any, size: int) -> None:
    assert hw.psi(a, b).size == size


def test_missing_keys_of_frames_match_nothing() -> None:
    pd = pytest.importorskip("pandas")
    assert hw.psi(pd.Series(["a", None]), ["a", "None", "nan"]).size == 1
    frame = pd.DataFrame({"k": pd.Series([3, None]), "n": [1, 2]})
    assert hw.psi(frame, pd.DataFrame({"k": [3, 4], "n": [5, 6]}), on="k").size == 1


@pytest.mark.parametrize("value", [b"secret", ("secret", "b"), ["secret"]])
def test_keys_that_are_no_texts_or_numbers_are_refused(value: Any) -> None:
    with pytest.raises(hw.UsageError) as caught:
        hw.psi([value], ["a"])
    assert "secret" not in str(caught.value) and caught.value.remedy


def test_arguments_of_other_types_are_refused_by_type() -> None:
    pair = (b"a" * 16, b"b" * 16)
    assert hw.ot([pair, pair], [0, 1]) == [pair[0], pair[1]]
    for choices in ([2], [0, 1], ["x"]):
        with pytest.raises(hw.UsageError, match="truth value"):
            hw.ot([pair], choices)  # type: ignore[arg-type]
    for odd in ((1, 2), ("a" * 16, "b" * 16), pair[:1], (*pair, pair[0])):
        with pytest.raises(hw.UsageError, match="no two messages of 16 bytes"):
            hw.ot([odd], [0])  # type: ignore[list-item]
    for data, key in ((None, bytes(16)), ("text", bytes(16)), (b"data", "0" * 16)):
        with pytest.raises(hw.UsageError, match="no bytes"):
            hw.aes(data, key=key, iv=1)  # type: ignore[arg-type]


def test_an_input_that_is_no_number_is_not_shown() -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(hw.UsageError, match="no number") as caught:
        hw.run_onnx(b"", np.array([["secret"]], dtype=object))
    assert "secret" not in repr(caught.value) and caught.value.__suppress_context__


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(hw.PartyError):
        hw.run_onnx(b"no model", [[1.0]])
    for absent in (lambda: hw.run_onnx("absent.onnx", [[1.0]]), lambda: hw.psi("absent.csv", ["a"])):
        with pytest.raises(hw.FileError, match="absent.*No such file") as caught:
            absent()
        assert caught.value.remedy
    with pytest.raises(hw.UsageError, match="2 or 3 parties"):
        hw.run_onnx(b"", [[1.0]], parties=4)


@pytest.mark.parametrize("name", ["millionaires", "aes", "draw"])
def test_digests_of_job_files_are_those_of_the_command(name: str) -> None:
    path = Path(__file__).parents[3] / "examples" / "jobs" / f"{name}.toml"
    told = subprocess.run(
        [sys.executable, "-m", "hushwire", "job", "digest", str(path)], capture_output=True, text=True, check=True
    )
    assert hw.job_digest(str(path)) in told.stdout.split()


MODEL = base64.b64decode(
    "CAg6VwoRCgF4CgF3EgF5IgZNYXRNdWwSA25ldCoTCAIIARABQgF3SggAAABAAAAAP1oTCgF4"
    "Eg4KDAgBEggKAggBCgIIAmITCgF5Eg4KDAgBEggKAggBCgIIAUIECgAQDQ=="
)


def apart(folder: Path, location: str) -> Path:
    """The file of a model whose weights are in another file, from its fifth byte on."""

    def entry(key: str, value: str) -> bytes:
        return _weights._written(13, _weights._written(1, key.encode()) + _weights._written(2, value.encode()))

    def changed(data: bytes, number: int, change: Any) -> bytes:
        parts = _weights._fields(data)
        return b"".join(_weights._written(n, change(c)) if n == number else raw for n, _, raw, c in parts)

    def tensor(data: bytes) -> bytes:
        raw = next(content for n, _, _, content in _weights._fields(data) if n == 9)
        (folder / "w.bin").write_bytes(b"skip" + raw + b"rest")
        kept = b"".join(own for n, _, own, _ in _weights._fields(data) if n != 9)
        told = entry("location", location) + entry("offset", "4") + entry("length", str(len(raw)))
        return kept + told + bytes([14 << 3, 1])

    path = folder / "m.onnx"
    path.write_bytes(changed(MODEL, 7, lambda graph: changed(graph, 5, tensor)))
    return path


def test_weights_beside_the_model_are_read(tmp_path: Path) -> None:
    path = apart(tmp_path, "w.bin")
    assert float(hw.run_onnx(path, [[1.0, 4.0]])[0][0]) == float(hw.run_onnx(MODEL, [[1.0, 4.0]])[0][0]) == 4.0
    (tmp_path / "w.bin").write_bytes(b"skip")
    with pytest.raises(hw.PartyError):
        hw.run_onnx(path, [[1.0, 4.0]])
    (tmp_path / "w.bin").unlink()
    with pytest.raises(hw.FileError, match="w.bin"):
        hw.run_onnx(path, [[1.0, 4.0]])


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "a/../../w.bin", ""])
def test_weights_elsewhere_are_not_read(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    path = apart(folder, location)
    (tmp_path / "w.bin").write_bytes((folder / "w.bin").read_bytes())
    with pytest.raises(hw.FileError, match="another file"):
        hw.run_onnx(path, [[1.0, 4.0]])
