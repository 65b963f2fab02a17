"""Measurements, prices and findings as dictionaries that notebooks show as tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Report", "Reports"]

#: The names of prices and measurements for people.
_WORDS = {
    "bytes_sent": "bytes sent",
    "bytes_received": "bytes received",
}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in HTML. Its cells are texts, which are escaped."""
    heads = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    lines = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def amount(n: float) -> str:
    """Format a number of bytes for people.

    >>> amount(1536)
    '1.5 KiB'
    """
    size = float(n)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def duration(s: float) -> str:
    """Format seconds for people.

    >>> duration(0.25)
    '0.2 s'
    """
    if s < 0.0995:
        return f"{max(1.0, 1000 * s):.0f} ms"
    return f"{s:.1f} s" if s < 60 else f"{s / 60:.1f} min"


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, (int, float)):
        if name.startswith("bytes"):
            return amount(value)
        if name == "seconds" or name.endswith("_seconds"):
            return duration(value)
        return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_shown(name, one)}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(_shown(name, one) for one in value)
    return str(value)


def _word(name: str) -> str:
    return _WORDS.get(name, name.replace("_", " "))


class Report(dict[str, Any]):
    """A dictionary that notebooks show as a table.

    >>> print(Report(rounds=3, bytes_sent=2048)._repr_html_())
    <table><thead><tr><th></th><th></th></tr></thead><tbody><tr><td>rounds</td><td>3</td></tr>\
<tr><td>bytes sent</td><td>2.0 KiB</td></tr></tbody></table>
    """

    def _repr_html_(self) -> str:
        parts, plain = [], []
        for name, value in self.items():
            # A list of findings is a table of its own.
            if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
                parts.append(f"<h4>{html.escape(_word(name))}</h4>{_rows(value)}")
            else:
                plain.append((_word(name), _shown(name, value)))
        head = table(["", ""], plain) if plain else ""
        return head + "".join(parts)


class Reports(list[dict[str, Any]]):
    """A list of dictionaries that notebooks show as a table with a row for each.

    >>> "<td>3</td>" in Reports([{"rounds": 3}])._repr_html_()
    True
    """

    def _repr_html_(self) -> str:
        return _rows(self)


def _rows(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return table(map(_word, names), ([_shown(n, row.get(n)) for n in names] for row in rows))
