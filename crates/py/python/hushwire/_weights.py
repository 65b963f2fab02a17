"""Copies weights into an ONNX model that exporters wrote to files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

#: A field of a message: its number, its kind, its whole bytes, and its content.
Field = tuple[int, int, bytes, bytes]

_GRAPH, _WEIGHTS, _RAW, _ENTRY, _PLACE = 7, 5, 9, 13, 14


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _fields(data: bytes) -> Iterator[Field]:
    at = 0
    while at < len(data):
        start = at
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            content, at = at, _varint(data, at)[1]
        elif kind == 2:
            length, content = _varint(data, at)
            at = content + length
        else:
            content, at = at, at + {1: 8, 5: 4}[kind]
        if at > len(data):
            raise IndexError
        yield number, kind, data[start:at], data[content:at]


def _written(number: int, content: bytes) -> bytes:
    made = b""
    for value in (number << 3 | 2, len(content)):
        while value > 127:
            made += bytes([value & 127 | 128])
            value >>= 7
        made += bytes([value])
    return made + content


def _tensor(data: bytes, read: Callable[[str], bytes]) -> bytes:
    fields = list(_fields(data))
    entries = [dict((n, c) for n, _, _, c in _fields(content)) for n, _, _, content in fields if n == _ENTRY]
    where = {entry.get(1, b"").decode(): entry.get(2, b"").decode() for entry in entries}
    path = PurePosixPath(where.get("location", ""))
    # A file outside the model's directory is not read.
    if not path.name or path.is_absolute() or ".." in path.parts:
        return data
    whole = read(str(path))
    start = int(where.get("offset", "0"))
    part = whole[start : start + int(where.get("length", str(len(whole) - start)))]
    kept = [raw for number, _, raw, _ in fields if number not in (_RAW, _ENTRY, _PLACE)]
    return b"".join(kept) + _written(_RAW, part)


def inlined(model: bytes, read: Callable[[str], bytes]) -> bytes:
    """The model with all weights in it; ``read`` returns a file beside the model by its name.
    Invalid bytes are returned as they are, and the reader of the model reports the error.

    >>> inlined(b"no model", lambda name: b"")
    b'no model'
    """
    if b"location" not in model:
        return model

    def rewritten(data: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
        parts = (_written(n, change(c)) if (n, kind) == (number, 2) else raw for n, kind, raw, c in _fields(data))
        return b"".join(parts)

    def graph(data: bytes) -> bytes:
        return rewritten(data, _WEIGHTS, lambda tensor: _tensor(tensor, read) if b"location" in tensor else tensor)

    try:
        return rewritten(model, _GRAPH, graph)
    except (IndexError, KeyError, ValueError):
        return model
