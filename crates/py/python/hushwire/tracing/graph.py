"""The graph that a traced function leaves, and its text in the language of computations."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import ComputationError
from .types import ArrayType, Out, Scalar, Shape, is_reserved

DEEPEST = 8
"""The deepest nesting of values in one line of text."""

Form = str
"""How a node is written: input, const, infix, prefix, shift, call or order."""

_STRENGTH = {"|": 0, "^": 1, "&": 2, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_STRENGTH.update({sign: 3 for sign in ("==", "!=", "<", "<=", ">", ">=")})
_UNARY, _WHOLE = 7, 8
_CONVERSIONS = {"cast", "reshape", "broadcast", "wrapping", "rescale"}

PUBLIC, SECRET = "public", "secret"


@dataclass(frozen=True)
class Node:
    """One operation: its text, the values that it reads, and the type of its value."""

    form: Form
    name: str
    args: tuple[int, ...]
    suffix: str
    scalar: Scalar | None
    shape: Shape
    sight: str
    """Who may see the value: "public", "secret", or the member that knows it."""


@dataclass
class Graph:
    """A computation under construction. Equal operations on equal values are one node."""

    name: str
    real: Scalar
    nodes: list[Node] = field(default_factory=list)
    inputs: list[tuple[str, ArrayType]] = field(default_factory=list)
    outputs: list[tuple[str, int, Out]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    _known: dict[Node, int] = field(default_factory=dict)

    def add(
        self,
        form: Form,
        name: str,
        args: tuple[int, ...],
        scalar: Scalar | None,
        shape: Shape,
        suffix: str = "",
        sight: str | None = None,
    ) -> int:
        """The number of a node. The node is new unless there is an equal one."""
        if sight is None:
            sight = PUBLIC
            for arg in args:
                other = self.nodes[arg].sight
                sight = other if sight in (PUBLIC, other) else sight if other == PUBLIC else SECRET
        if len(shape) > 8:
            raise ComputationError(f"a value with {len(shape)} axes", "it has at most 8")
        node = Node(form, name, args, suffix, scalar, shape, sight)
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def members(self) -> list[str]:
        """All members, in the order in which inputs and outputs name them."""
        names = [ty.owner for _, ty in self.inputs if ty.owner is not None]
        names += [member for _, _, to in self.outputs for member in to.to]
        return list(dict.fromkeys(names))

    def symbols(self) -> list[str]:
        """The names of lengths."""
        dims = [dim for _, ty in self.inputs for dim in ty.shape if isinstance(dim, str)]
        return list(dict.fromkeys(dims))

    def reached(self) -> set[int]:
        """The nodes that an output needs."""
        seen: set[int] = set()
        stack = [value for _, value, _ in self.outputs]
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                stack.extend(self.nodes[at].args)
        return seen

    def text(self) -> str:
        """The computation in the language of `.hwc` files."""
        return Writer(self).text()


class Writer:
    """Writes a graph: a line for each value with a name or several readers.

    A brief text is for pictures: it leaves out conversions, which a reader need not see.
    """

    def __init__(self, graph: Graph, brief: bool = False) -> None:
        self.graph = graph
        self.brief = brief
        self.written: dict[int, tuple[str, int]] = {}
        self.own: dict[int, str] = {}
        self.lines: list[str] = []
        self.reached = graph.reached()
        self.uses = dict.fromkeys(self.reached, 0)
        for at in self.reached:
            for arg in graph.nodes[at].args:
                self.uses[arg] += 1
        for _, value, _ in graph.outputs:
            self.uses[value] += 1
        inputs = {name for name, _ in graph.inputs}
        self.taken = inputs | {name for at, name in graph.names.items() if at in self.reached}
        self.fresh = 0

    def text(self) -> str:
        graph, head = self.graph, [f"computation {self.graph.name}"]
        for word, names in (("members", graph.members()), ("symbols", graph.symbols())):
            if names:
                head.append(f"{word} {', '.join(names)}")
        head.append("")
        for name, ty in graph.inputs:
            whose = f"from {ty.owner}" if ty.owner is not None else ty.visibility
            head.append(f"input {name}: {ty}{_promise(ty)} {whose}")
        depth: dict[int, int] = {}
        for at in sorted(self.reached):
            node = graph.nodes[at]
            depth[at] = max((depth[arg] + 1 for arg in node.args), default=0)
            self.written[at] = self.expression(node)
            if node.form == "input":
                continue
            given = graph.names.get(at)
            # A brief text has no line for a conversion.
            small = node.form == "const" and len(self.written[at][0]) < 24
            small |= self.brief and node.name in _CONVERSIONS
            deep = depth[at] >= DEEPEST and not self.brief
            if given is not None or (self.uses[at] > 1 and not small) or deep:
                name = given or self.next_name()
                self.own[at] = self.written[at][0]
                self.lines.append(f"{name} = {self.written[at][0]}")
                self.written[at] = (name, _WHOLE)
                depth[at] = 0
        tail = []
        for name, value, to in graph.outputs:
            shown = self.written[value][0]
            what = "" if shown == name else f" = {shown}"
            tail.append(f"output {name}{what} to {', '.join(to.to)}")
        parts = ["\n".join(head), "\n".join(self.lines), "\n".join(tail)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def next_name(self) -> str:
        while True:
            self.fresh += 1
            name = f"t{self.fresh}"
            if name not in self.taken:
                return name

    def operand(self, at: int, least: int, bare: bool = False) -> str:
        node = self.graph.nodes[at]
        if bare and node.form == "const" and not node.shape and at not in self.graph.names:
            return node.name if node.name not in ("true", "false") else self.written[at][0]
        text, strength = self.written[at]
        return text if strength >= least else f"({text})"

    def expression(self, node: Node) -> tuple[str, int]:
        nodes = self.graph.nodes
        if node.form == "input":
            return node.name, _WHOLE
        if node.form == "const":
            return node.name if self.brief else constant(node), _WHOLE
        if node.form == "infix":
            left, right = node.args
            level = _STRENGTH[node.name]
            alike = nodes[left].scalar == nodes[right].scalar
            texts = [nodes[left].form != "const", nodes[right].form != "const"]
            a = self.operand(left, level + (level == 3), alike and texts[1])
            b = self.operand(right, level + 1, alike and texts[0])
            return f"{a} {node.name} {b}", level
        if node.form == "prefix":
            return f"{node.name}{self.operand(node.args[0], _UNARY)}", _UNARY
        if node.form == "shift":
            return f"{self.operand(node.args[0], 4)} {node.name} {node.suffix}", 4
        if self.brief and node.name in _CONVERSIONS:
            return self.written[node.args[0]]
        parts = [self.operand(arg, 0) for arg in node.args]
        if node.form == "order":
            parts = [
                ("desc " if down == "-" else "") + key for key, down in zip(parts, node.suffix)
            ]
            return f"order({', '.join(parts)})", _WHOLE
        return f"{node.name}({', '.join(parts)}{node.suffix})", _WHOLE


def constant(node: Node) -> str:
    """A constant with its type."""
    dims = f"[{', '.join(str(dim) for dim in node.shape)}]" if node.shape else ""
    return f"const({node.scalar}{dims}, {node.name})"


def literal(scalar: Scalar, steps: int) -> str:
    """The exact text of an element."""
    if scalar.kind == "bool":
        return "true" if steps else "false"
    if scalar.frac == 0:
        return str(steps)
    whole, rest = divmod(abs(steps), 1 << scalar.frac)
    digits = str(rest * 5**scalar.frac).rjust(scalar.frac, "0").rstrip("0") or "0"
    return f"{'-' if steps < 0 else ''}{whole}.{digits}"


def _promise(ty: ArrayType) -> str:
    if ty.promise is None:
        return ""
    low, high = ty.promise
    return f" in {literal(ty.scalar, low)}..{literal(ty.scalar, high + 1)}"


def name_value(graph: Graph, at: int, name: str) -> None:
    """Names a value for readers of the text. A name that the text cannot contain is left out."""
    taken = {other for other, _ in graph.inputs} | set(graph.names.values())
    simple = graph.nodes[at].form not in ("input", "const")
    if simple and at not in graph.names and name not in taken and not is_reserved(name):
        graph.names[at] = name
