"""Jobs of all members in this process: networks, intersections, encryptions, oblivious transfers."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Union

from hushwire import _arrays, _logs, _native
from hushwire._weights import inlined
from hushwire.errors import KINDS, FileError, UsageError
from hushwire.progress import ProgressLike, Telling
from hushwire.report import Report, table
from hushwire.tables import Table

__all__ = ["Intersection", "aes", "doctor", "job_digest", "ot", "psi", "run_onnx"]

Path = Union[str, "PathLike[str]"]


class Intersection:
    """The result of an intersection. The two parties learn only what was requested."""

    def __init__(self, learnt: list[dict[str, Any]]) -> None:
        #: The results of each party, by name: ``size``, ``sum``, ``items``, ``flags``, ``fields``.
        self.parties = learnt

    def _of(self, name: str) -> Any:
        for learnt in self.parties:
            if name in learnt:
                return learnt[name]
        raise UsageError(
            step="reading the intersection",
            cause=f"nobody learns {name}",
            remedy=f"ask for it with reveal={name!r}",
        )

    @property
    def size(self) -> int:
        """The number of keys in both tables."""
        size: int = self._of("size")
        return size

    @property
    def sum(self) -> int:
        """The sum over rows whose key is in both tables."""
        total: int = self._of("sum")
        return total

    @property
    def items(self) -> list[str]:
        """The keys in both tables, in the order of the first party that learns them."""
        items: list[str] = self._of("items")
        return items

    @property
    def flags(self) -> list[bool]:
        """For each row of the party that learns them, whether its key is in both tables."""
        flags: list[bool] = self._of("flags")
        return flags

    @property
    def fields(self) -> list[list[str]]:
        """The other party's columns, for each of :attr:`items`."""
        fields: list[list[str]] = self._of("fields")
        return fields

    def __repr__(self) -> str:
        names = sorted({name for learnt in self.parties for name in learnt})
        return f"<hushwire.Intersection: {', '.join(names)}>"

    def _repr_html_(self) -> str:
        def shown(value: Any) -> str:
            return str(value) if isinstance(value, int) else f"{len(value):,} in a list"

        rows = [
            (f"party {party}", name, shown(value))
            for party, learnt in enumerate(self.parties)
            for name, value in learnt.items()
        ]
        return table(["who", "learns", ""], rows)


def psi(
    a: Any,
    b: Any,
    on: Union[str, Sequence[str]] = "key",
    *,
    reveal: str = "size",
    forms: Sequence[str] = (),
    malicious: bool = False,
    to: Sequence[str] = (),
    progress: ProgressLike = None,
) -> Intersection:
    """Find the keys that two tables share, and reveal only the requested result.

    A table is a list of keys, a data frame, or the path of a CSV file. ``reveal`` is ``"size"``,
    ``"items"``, ``"flags"``, ``"sum:COLUMN,count"`` or ``"columns:NAME,NAME"``; docs/psi.md explains
    them. ``forms`` are the forms of the key's fields, such as ``["email"]``. The security is
    semi-honest, or with ``malicious=True`` against any deviation.

    >>> import hushwire as hw
    >>> hw.psi(["ann@x", "bob@x"], ["eve@x", "ann@x"], reveal="items").items
    ['ann@x']
    """
    columns = [on] if isinstance(on, str) else list(on)
    rows = [read_rows(table, columns) for table in (a, b)]
    security = "malicious" if malicious else "semi-honest"
    wanted = ([columns, columns], reveal, list(forms), security, list(to))
    with Telling(progress, "intersection") as told:
        return Intersection(_native.psi((rows[0], rows[1]), wanted, told))


def read_rows(table: Any, columns: list[str]) -> bytes:
    """A table as CSV, whose first line has the names of columns."""
    if isinstance(table, Table):
        raise UsageError(
            step="reading a table",
            cause="a table of hw.of is for sessions, and an intersection takes a and b as its owners bring them",
            remedy="bring the data frame itself, without hw.of, or write session.psi(a, b, on=…)",
        )
    if isinstance(table, (str, PathLike)):
        return read_file(table)
    if not hasattr(table, "__arrow_c_stream__") and hasattr(table, "collect"):
        table = table.collect()
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    if hasattr(table, "columns") or isinstance(table, dict):
        names = [str(name) for name in (table if isinstance(table, dict) else table.columns)]
        values = [[_cell(value) for value in _listed(table[name])] for name in names]
        writer.writerow(names)
        writer.writerows(zip(*values))
    else:
        if len(columns) != 1:
            raise UsageError(
                step="reading a table",
                cause=f"a list has one column, and the key has {len(columns)}",
                remedy="bring a data frame with these columns",
            )
        writer.writerow(columns)
        writer.writerows([_cell(value)] for value in _listed(table))
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """A value in the form of other members' tables: a missing value is empty, and a whole number has
    no point. A data frame turns whole numbers into floats if some are missing."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, (bytes, bytearray, list, tuple, dict, set)):
        raise UsageError(
            step="reading a table",
            cause=f"a value is {type(value).__name__}",
            remedy="bring strings or numbers: decode bytes, and give each part of a key its column",
        )
    return value


def _listed(column: Any) -> list[Any]:
    for name in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, name):
            values: list[Any] = getattr(column, name)()
            return values
    return list(column)


def aes(
    data: bytes,
    *,
    keys: Path | None = None,
    key: bytes | None = None,
    iv: Union[bytes, int, None] = None,
    decrypt: bool = False,
    progress: ProgressLike = None,
) -> bytes:
    """Encrypt with AES in counter mode among three parties, or decrypt.

    With ``keys``, the key exists only as shares of the parties. The directory has these shares, and a
    ledger of counters, so that no counter is used twice. With ``key`` (16, 24 or 32 bytes), the caller
    brings the key, and the parties do not keep it; ``iv`` is then the first counter block.

    >>> import hushwire as hw
    >>> secret = hw.aes(b"Dear Bob", key=bytes(16), iv=1)
    >>> hw.aes(secret, key=bytes(16), iv=1, decrypt=True)
    b'Dear Bob'
    """
    if (keys is None) == (key is None):
        raise UsageError(
            step="starting the encryption",
            cause="it takes a directory of keys, or a key",
            remedy='write keys="mine.keys", or key=',
        )
    for what, given in (("the data", data), ("the key", b"" if key is None else key)):
        if not isinstance(given, (bytes, bytearray, memoryview)):
            raise UsageError(
                step="starting the encryption",
                cause=f"{what} is {type(given).__name__}, and no bytes",
                remedy="bring bytes, as text.encode()",
            )
    if key is not None and len(key) not in (16, 24, 32):
        raise UsageError(
            step="starting the encryption",
            cause=f"the key has {len(key)} bytes",
            remedy="bring 16, 24 or 32 bytes",
        )
    if isinstance(iv, (bytes, bytearray)):
        if len(iv) != 16:
            raise UsageError(
                step="starting the encryption",
                cause=f"the counter block has {len(iv)} bytes",
                remedy="bring 16 bytes",
            )
        iv = int.from_bytes(iv, "big")
    with Telling(progress, "aes") as told:
        where = None if keys is None else fspath(keys)
        return _native.aes(data, decrypt, where, key, iv, told)


def run_onnx(
    model: Union[Path, bytes],
    input: Any,
    *,
    parties: int = 3,
    progress: ProgressLike = None,
) -> Any:
    """Run a neural network on an input. Its owner keeps the weights, and only the client learns the output.

    ``model`` is the path of an ONNX file, or its bytes. ``input`` is an array of the shape that the
    network takes. With three parties, neither owner nor client computes. With ``parties=2``, they
    are the only parties. docs/models.md lists the operators.

    >>> import hushwire as hw, base64
    >>> y_is_2_a_plus_b_half = base64.b64decode(
    ...     "CAg6VwoRCgF4CgF3EgF5IgZNYXRNdWwSA25ldCoTCAIIARABQgF3SggAAABAAAAAP1oTCgF4"
    ...     "Eg4KDAgBEggKAggBCgIIAmITCgF5Eg4KDAgBEggKAggBCgIIAUIECgAQDQ==")
    >>> float(hw.run_onnx(y_is_2_a_plus_b_half, [[1.0, 4.0]])[0][0])
    4.0
    """
    if parties not in (2, 3):
        raise UsageError(
            step="starting the run",
            cause=f"networks run among 2 or 3 parties, and {parties} are asked for",
            remedy="write parties=3",
        )
    onnx = read_model(model)
    _, shape, elements = _arrays.to_native(floats(input))
    with Telling(progress, "model") as told:
        lengths, made = _native.model(onnx, list(shape), elements, parties == 2, told)
    return _arrays.of_floats(lengths, made)


def read_model(model: Union[Path, bytes, None]) -> bytes:
    """The bytes of a model."""
    if isinstance(model, (bytes, bytearray)):
        return bytes(model)
    if model is None:
        raise UsageError(
            step="starting the run",
            cause="the model is missing",
            remedy="give the path of an ONNX file, or its bytes",
        )
    folder = os.path.dirname(os.path.abspath(model))
    return inlined(read_file(model), lambda name: read_file(os.path.join(folder, name)))


def read_file(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(
            step=f"reading {fspath(path)!r}",
            cause=error.strerror or type(error).__name__,
            remedy="name a file that is there, and that this user may read",
        ) from None


def floats(input: Any) -> Any:
    """An array of floats of 4 bytes."""
    if hasattr(input, "__array__") or hasattr(input, "__array_interface__"):
        import numpy

        try:
            return numpy.ascontiguousarray(input, dtype="<f4")
        except (TypeError, ValueError):
            # NumPy's message contains the value.
            raise UsageError(
                step="reading an array",
                cause="an element is no number",
                remedy="bring an array of floats, integers or truth values",
            ) from None
    return _arrays.Floats(input)


def ot(
    pairs: Sequence[tuple[bytes, bytes]], choices: Sequence[bool]
) -> list[bytes]:
    """Oblivious transfer: the receiver learns one message of each pair, and the sender learns nothing.

    Messages have 16 bytes. The security is malicious, with κ = 128. Both parties are threads of this
    process.

    >>> import hushwire as hw
    >>> hw.ot([(b"sixteen bytes, a", b"sixteen bytes, b")], [True])
    [b'sixteen bytes, b']
    """
    def is_pair(pair: Any) -> bool:
        return len(pair) == 2 and all(isinstance(message, bytes) and len(message) == 16 for message in pair)

    if not all(is_pair(pair) for pair in pairs):
        raise UsageError(
            step="oblivious transfer",
            cause="a pair is no two messages of 16 bytes",
            remedy="send keys of 16 bytes, and encrypt longer messages under them",
        )
    if any(choice not in (0, 1) for choice in choices) or len(choices) != len(pairs):
        raise UsageError(
            step="oblivious transfer",
            cause=f"{len(pairs)} pairs and {len(choices)} choices, each of which is to be a truth value",
            remedy="bring True or False for each pair",
        )
    return _native.transfer([list(pair) for pair in pairs], [bool(choice) for choice in choices])


def job_digest(path: Path) -> str:
    """The digest of a job file's terms, for ``hw.connect(…, allow=[…])``.

    >>> import hushwire as hw
    >>> hw.job_digest("absent.toml")
    Traceback (most recent call last):
    hushwire.errors.FileError: cannot read absent.toml: No such file or directory (os error 2); ...
    """
    return _native.job_digest(fspath(path))


def doctor(config: Path, *, seconds: int = 20) -> Report:
    """Check this host and every peer of a party file or client file before a run.

    The report is that of ``hushwire doctor --json``. A failed check is in the report, and raises no
    exception.

    >>> import hushwire as hw
    >>> hw.doctor("absent.toml")
    Traceback (most recent call last):
    hushwire.errors.FileError: cannot read absent.toml: No such file or directory (os error 2); ...
    """
    command = [sys.executable, "-m", "hushwire", "doctor", "--config", fspath(config)]
    command += ["--seconds", str(seconds), "--json", "-", "--log-format", "json", "-v"]
    ended = subprocess.run(command, capture_output=True, text=True)
    _logs.lines(ended.stderr)
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        raise UsageError(
            step="looking at this host",
            cause=f"the command ended with code {ended.returncode}",
            remedy="run `python -m hushwire doctor` with the same file",
        ) from None
    failed = report.get("error")
    if failed is not None:
        words = {name: str(failed.get(name) or "") for name in ("step", "cause", "remedy")}
        kind = KINDS.get(failed.get("kind"), UsageError)
        raise kind(party=failed.get("who"), code=failed.get("code"), **words)
    return Report(report)
