"""ONNX files without a library: the few fields of protocol buffers that a network needs.

Source of the field numbers: onnx/onnx.proto, version 1.16."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

FLOAT = 1


def _number(n: int) -> bytes:
    made = bytearray()
    while True:
        n, low = n >> 7, n & 127
        made.append(low | (128 if n else 0))
        if not n:
            return bytes(made)


def field(number: int, value: int | bytes | str) -> bytes:
    """A field of a message: a number, or bytes behind their length."""
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(data)) + data


def node(op: str, inputs: list[str], output: str) -> bytes:
    """NodeProto."""
    return b"".join([*(field(1, name) for name in inputs), field(2, output), field(4, op)])


def tensor(name: str, array: Any) -> bytes:
    """TensorProto of floats."""
    dims = b"".join(field(1, n) for n in array.shape)
    return dims + field(2, FLOAT) + field(8, name) + field(9, np.ascontiguousarray(array, "<f4").tobytes())


def value(name: str, shape: list[int]) -> bytes:
    """ValueInfoProto of floats of a shape."""
    dims = b"".join(field(1, field(1, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def model(nodes: list[bytes], weights: list[bytes], inputs: list[bytes], outputs: list[bytes]) -> bytes:
    """ModelProto of one graph, by version 13 of the operators."""
    graph = b"".join(
        [
            *(field(1, one) for one in nodes),
            field(2, "net"),
            *(field(5, one) for one in weights),
            *(field(11, one) for one in inputs),
            *(field(12, one) for one in outputs),
        ]
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def perceptron(rng: np.random.Generator) -> tuple[bytes, Callable[[Any], Any]]:
    """A small perceptron as a file, and as a function."""
    a, b = rng.normal(size=(4, 8)).astype("f4"), rng.normal(size=(8, 3)).astype("f4")
    nodes = [
        node("MatMul", ["x", "a"], "h"),
        node("Relu", ["h"], "r"),
        node("MatMul", ["r", "b"], "y"),
    ]
    made = model(nodes, [tensor("a", a), tensor("b", b)], [value("x", [1, 4])], [value("y", [1, 3])])
    return made, lambda x: np.maximum(x @ a, 0) @ b
