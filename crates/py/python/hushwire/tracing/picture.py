"""A picture of a computation's operators, and its page in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from .graph import PUBLIC, SECRET, Graph, Node, Writer

if TYPE_CHECKING:
    from .function import Computation

MOST = 24
"""The most boxes of operators; a picture of more shows named values alone."""

_WIDTH, _HEIGHT, _GAP, _LANE = 168, 44, 22, 40
_OWNERS = ("#1f77b4", "#2ca02c", "#b8860b", "#17808f", "#8c564b", "#c2559d", "#5a6b1f", "#6b7280")
_SECRET, _PUBLIC = "#7c3aed", "#6b7280"


@dataclass
class _Box:
    """One box: its two lines, its colour, and the boxes that it reads."""

    title: str
    about: str
    colour: str
    reads: list[int]
    rank: int = 0
    solid: bool = False
    x: float = 0
    readers: list[int] = field(default_factory=list)


def _colour(graph: Graph, sight: str) -> str:
    if sight in (PUBLIC, SECRET):
        return _PUBLIC if sight == PUBLIC else _SECRET
    members = graph.members()
    return _OWNERS[members.index(sight) % len(_OWNERS)] if sight in members else _SECRET


def _type(node: Node) -> str:
    dims = ", ".join(str(dim) for dim in node.shape)
    return f"{node.scalar}[{dims}]" if dims else str(node.scalar or "order")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _boxes(graph: Graph) -> list[_Box]:
    """Inputs, values with a line of their own in the text, and outputs."""
    writer = Writer(graph, brief=True)
    writer.text()
    order = sorted(writer.reached)
    lines = [at for at in order if at in writer.own and graph.nodes[at].sight != PUBLIC]
    if len(lines) > MOST:
        lines = [at for at in lines if at in graph.names][:MOST]
    shown = {at for at in order if graph.nodes[at].form == "input"} | set(lines)
    boxes: list[_Box] = []
    places: dict[int, int] = {}

    def reads(at: int) -> list[int]:
        """The boxes that a value reads, directly or through values without a box."""
        found: dict[int, None] = {}
        stack, seen = list(reversed(graph.nodes[at].args)), set()
        while stack:
            arg = stack.pop()
            if arg in places:
                found[places[arg]] = None
            elif arg not in seen:
                seen.add(arg)
                stack.extend(reversed(graph.nodes[arg].args))
        return list(found)

    for at in order:
        if at not in shown:
            continue
        node = graph.nodes[at]
        colour = _colour(graph, node.sight)
        if node.form == "input":
            boxes.append(_Box(node.name, f"{_type(node)} · {node.sight}", colour, [], solid=True))
        else:
            title = f"{writer.written[at][0]} = {writer.own[at]}"
            boxes.append(_Box(title, f"{_type(node)} · {_seen(node.sight)}", colour, reads(at)))
        places[at] = len(boxes) - 1
    for name, value, to in graph.outputs:
        node = graph.nodes[value]
        about = f"{_type(node)} → {', '.join(to.to)}"
        title = name if value in places else f"{name} = {writer.written[value][0]}"
        used = [places[value]] if value in places else reads(value)
        boxes.append(
            _Box(
                title,
                about,
                _colour(graph, to.to[0] if len(to.to) == 1 else PUBLIC),
                used,
                solid=True,
            )
        )
    return boxes


def _seen(sight: str) -> str:
    return {PUBLIC: "public", SECRET: "secret"}.get(sight, f"{sight} alone")


def _place(boxes: list[_Box]) -> list[list[_Box]]:
    """Boxes in lanes. Each is below the boxes that it reads, and in their order."""
    for box in boxes:
        box.rank = max((boxes[at].rank + 1 for at in box.reads), default=0)
    last = max((box.rank for box in boxes), default=0)
    for box in boxes:
        if "→" in box.about and not box.readers:
            box.rank = max(box.rank, last)
    lanes: list[list[_Box]] = [[] for _ in range(last + 1)]
    for box in boxes:
        lanes[box.rank].append(box)
    for lane in lanes:
        centre = {
            id(box): sum(boxes[at].x for at in box.reads) / (len(box.reads) or 1) for box in lane
        }
        lane.sort(key=lambda box: centre[id(box)])
        start = -(len(lane) - 1) * (_WIDTH + _GAP) / 2
        for k, box in enumerate(lane):
            box.x = start + k * (_WIDTH + _GAP)
    return lanes


def svg(graph: Graph) -> str:
    """The operators as a picture: who brings what, what is secret, who learns what."""
    boxes = _boxes(graph)
    lanes = _place(boxes)
    half = max(max((abs(box.x) for box in boxes), default=0) + _WIDTH / 2 + 8, 160)
    width, height = 2 * half, len(lanes) * (_HEIGHT + _LANE) - _LANE + 56
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{min(width, 1100):.0f}" role="img" font-family="system-ui, sans-serif" font-size="11">',
        f"<title>Operators of the computation {escape(graph.name)}</title>",
        f"<desc>{len(graph.inputs)} inputs, {len(boxes)} boxes, {len(graph.outputs)} outputs</desc>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
    ]
    for box in boxes:
        for at in box.reads:
            parts.append(_edge(boxes[at], box, half))
    for box in boxes:
        parts.append(_drawn(box, half))
    parts.append(_legend(graph, height))
    return "".join([*parts, "</svg>"])


def _top(rank: int) -> float:
    return 8 + rank * (_HEIGHT + _LANE)


def _edge(a: _Box, b: _Box, half: float) -> str:
    x, y = half + a.x, _top(a.rank) + _HEIGHT
    to_x, to_y = half + b.x, _top(b.rank)
    bend = (to_y - y) / 2
    return (
        f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}" '
        f'fill="none" stroke="{a.colour}" stroke-width="1.5" opacity="0.6"/>'
    )


def _drawn(box: _Box, half: float) -> str:
    x, y = half + box.x - _WIDTH / 2, _top(box.rank)
    fill, ink = (box.colour, "#fff") if box.solid else ("#fff", "#111")
    return (
        f'<g><title>{escape(box.title)}</title><rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'rx="6" fill="{fill}" stroke="{box.colour}" stroke-width="1.5"/>'
        f'<text x="{half + box.x:.0f}" y="{y + 18:.0f}" text-anchor="middle" fill="{ink}" font-weight="600">'
        f"{escape(_cut(box.title, 23))}</text>"
        f'<text x="{half + box.x:.0f}" y="{y + 34:.0f}" text-anchor="middle" fill="{ink}" opacity="0.85">'
        f"{escape(_cut(box.about, 28))}</text></g>"
    )


def _legend(graph: Graph, height: float) -> str:
    names = [(name, _colour(graph, name)) for name in graph.members()]
    names += [("secret: nobody sees it", _SECRET), ("public", _PUBLIC)]
    parts, x = [], 12.0
    for name, colour in names:
        parts.append(
            f'<circle cx="{x + 5:.0f}" cy="{height - 16:.0f}" r="5" fill="{colour}"/>'
            f'<text x="{x + 14:.0f}" y="{height - 12:.0f}" fill="#333">{escape(name)}</text>'
        )
        x += 30 + 6.2 * len(name)
    return "".join(parts)


def page(computation: Computation) -> str:
    """The computation in a notebook: its picture, who brings and learns what, its price and text."""
    graph = computation.traced
    rows = []
    for member in graph.members():
        brings = [f"{name}: {ty}" for name, ty in graph.inputs if ty.owner == member]
        learns = [
            f"{name}: {_type(graph.nodes[value])}"
            for name, value, to in graph.outputs
            if member in to.to
        ]
        rows.append(
            f"<tr><td><b>{escape(member)}</b></td><td>{escape(', '.join(brings) or 'nothing')}</td>"
            f"<td>{escape(', '.join(learns) or 'nothing')}</td></tr>"
        )
    return (
        f'<div><div style="overflow-x:auto">{svg(graph)}</div>'
        f"<table><thead><tr><th>member</th><th>brings</th><th>learns</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{_price(computation)}"
        f"<details><summary>text</summary><pre>{escape(computation.text)}</pre></details></div>"
    )


def _price(computation: Computation) -> str:
    """The price among three parties, where the library is there to tell it."""
    from ..errors import PartyError

    try:
        cost = computation.cost()
    except PartyError:
        # A picture says nothing of protocols that cannot run it; `cost` does.
        return ""
    symbols = computation.traced.symbols()
    lengths = f" with {', '.join(f'{name} = 1000' for name in symbols)}" if symbols else ""
    seconds = cost.get("seconds", {})
    times = ", ".join(f"{value:.3g} s {escape(str(name))}" for name, value in seconds.items())
    return (
        f"<p>Three parties{escape(lengths)}: {cost['rounds']} rounds, {cost['bytes_sent']:,} bytes of the one "
        f"that sends most{f'; {times}' if times else ''}. Digest <code>{computation.digest[:16]}…</code></p>"
    )
