"""Intersections as queries of a session's parties: :meth:`hushwire.Session.psi` is their method."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from hushwire import _native
from hushwire.errors import UsageError
from hushwire.jobs import Intersection, read_rows
from hushwire.progress import ProgressLike
from hushwire.tables import Table, of

if TYPE_CHECKING:
    from hushwire.session import Session

_STEP = "planning the intersection"
#: Tables of parties 0 and 1 in the query.
_NAMES = ("hw_a", "hw_b")


def _wrong(cause: str, remedy: str) -> UsageError:
    return UsageError(step=_STEP, cause=cause, remedy=remedy)


class _Side:
    """The rows of one party: distinct keys in their normal form, and fields by name."""

    def __init__(self, rows: Any, on: Sequence[str], forms: Sequence[str]) -> None:
        reader = csv.DictReader(io.StringIO(read_rows(rows, list(on)).decode()))
        self.fields = list(reader)
        missing = [name for name in on if name not in (reader.fieldnames or [])]
        if missing:
            raise _wrong(f"the table has no column {missing[0]}", f"it has {', '.join(reader.fieldnames or [])}")
        self.keys = _native.psi_keys([[row[name] for name in on] for row in self.fields], list(forms))
        #: The rows of each key, in the order of its first one.
        self.places: dict[str, list[int]] = {}
        for place, fields in enumerate(self.keys):
            if fields is not None:
                # With lengths, `ab, c` and `a, bc` give different texts.
                key = "".join(f"{len(field)}:{field}" for field in fields)
                self.places.setdefault(key, []).append(place)

    def column(self, name: str) -> list[str]:
        if self.fields and name not in self.fields[0]:
            raise _wrong(f"the table has no column {name}", "name one of its columns")
        return [row[name] or "" for row in self.fields]

    def table(self, owner: str, more: dict[str, list[Any]]) -> Table:
        """The table of keys with their numbers, padded to the number of all rows."""
        made = {"k": list(self.places), "i": list(range(len(self.places))), **more}
        if not self.places:
            # A table must have a row. This one has an impossible key, which matches no other.
            made = {"k": [secrets.token_hex(16)], "i": [0], **{n: [0 if n == "v" else ""] for n in more}}
        types = {"k": "DIGEST(128) NOT NULL", "i": "INTEGER NOT NULL"}
        types |= {name: "BIGINT NOT NULL" for name in more if name == "v"}
        types |= {name: "VARCHAR(64) NOT NULL" for name in more if name != "v"}
        return of(owner, made, key="k", columns=types, pad=max(1, len(self.fields)))


def of_session(
    session: Session,
    given: tuple[Any, Any],
    on: Union[str, Sequence[str]],
    reveal: str,
    forms: Sequence[str],
    to: Sequence[str],
    progress: ProgressLike,
) -> Intersection:
    """Run the intersection. The arguments are those of :meth:`hushwire.Session.psi`."""
    me = session._native.me
    columns = [on] if isinstance(on, str) else list(on)
    owners = ("party0", "party1")
    for party, rows in zip(owners, given):
        if me in (None, party) and rows is None:
            raise _wrong(f"the table of {party} is missing", "bring a list of keys, a frame or a file")
        if me not in (None, party) and rows is not None:
            raise _wrong(f"the table is {party}'s, and this process is {me}", "leave it out here")
    what, _, names = reveal.partition(":")
    if not to:
        # As in the two-party protocol, only one party learns flags or columns.
        to = owners[:1] if what in ("flags", "columns") else owners
    learns = [party for party in owners if party in to]
    if not learns or len(learns) != len(to):
        raise _wrong("nobody is to learn the result", 'write to=["party0", "party1"], or one of them')
    sides = [None if rows is None else _Side(rows, columns, forms) for rows in given]
    more: list[dict[str, list[Any]]] = [{}, {}]
    if what == "sum":
        column, _, count = names.partition(",")
        name, _, whose = column.partition("@")
        at = {"": 1, "a": 0, "b": 1}.get(whose, 2)
        if at == 2 or count != "count" or not name:
            raise _wrong(f"{reveal!r} is no request of a sum", "write sum:COLUMN,count or sum:COLUMN@a,count")
        side = sides[at]
        if side is not None:
            more[at] = {"v": _sums(side, name)}
    elif what == "columns":
        wanted = names.split(",")
        if len(learns) != 1:
            raise _wrong("columns of the other table are for one party", f"write to={list(owners[:1])!r}")
        at = 1 - owners.index(learns[0])
        side = sides[at]
        if side is not None:
            for k, name in enumerate(wanted):
                more[at][f"c{k}"] = _texts(side, name)
    elif reveal not in ("size", "items", "flags"):
        raise _wrong(
            f"{reveal!r} cannot be revealed",
            "write size, items, flags, sum:COLUMN,count or columns:NAME,NAME",
        )
    tables = {
        name: side.table(owner, part)
        for name, owner, side, part in zip(_NAMES, owners, sides, more)
        if side is not None
    }
    joined = "hw_a AS a JOIN hw_b AS b ON a.k = b.k"
    learnt: list[dict[str, Any]] = [{}, {}]
    if what in ("size", "sum"):
        sum_ = f", SUM({'ab'[at]}.v) AS s" if what == "sum" else ""
        result = session.sql(f"SELECT COUNT(*) AS n{sum_} FROM {joined}", to=learns, tables=tables, progress=progress)
        for party in learns:
            if me in (None, party):
                ((size, *total),) = result.rows()
                learnt[owners.index(party)] = {"size": int(size)}
                if what == "sum":
                    learnt[owners.index(party)]["sum"] = int(total[0] or 0)
        return Intersection(learnt)
    for party in learns:
        index = owners.index(party)
        own = "ab"[index]
        shown = f"{own}.i AS i"
        if what == "columns":
            shown += "".join(f", {'ab'[1 - index]}.c{k} AS c{k}" for k in range(len(wanted)))
        result = session.sql(f"SELECT {shown} FROM {joined}", to=party, tables=tables, progress=progress)
        side = sides[index]
        if side is None:
            continue
        keys = list(side.places.values())
        found = {row[0]: list(row[1:]) for row in result.rows()}
        if what == "flags":
            there = {place for key in found for place in keys[key]}
            learnt[index]["flags"] = [place in there for place in range(len(side.fields))]
            continue
        # Keys have numbers in the order of their first rows.
        learnt[index]["items"] = [_item(side.keys[keys[key][0]] or []) for key in sorted(found)]
        if what == "columns":
            learnt[index]["fields"] = [found[key] for key in sorted(found)]
    return Intersection(learnt)


def _item(key: list[str]) -> str:
    """A key in the form in which the command prints it."""
    if len(key) == 1:
        return key[0]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(key)
    return text.getvalue()


def _texts(side: _Side, name: str) -> list[str]:
    """The field of each key, which must be the same in all rows of the key."""
    texts = side.column(name)
    for places in side.places.values():
        odd = next((place for place in places if texts[place] != texts[places[0]]), None)
        if odd is not None:
            raise _wrong(
                f"row {odd}: its key is that of row {places[0]}, with another field in {name}",
                "leave one row for each key, or name columns that are the same in all rows of a key",
            )
    return [texts[places[0]] for places in side.places.values()]


def _sums(side: _Side, name: str) -> list[int]:
    """The sum of each key's rows, as whole numbers."""
    values = []
    for row, text in enumerate(side.column(name)):
        if side.keys[row] is None:
            values.append(0)
            continue
        try:
            values.append(int(text))
        except ValueError:
            raise _wrong(
                f"column {name}, row {row}: it is no whole number", "bring whole numbers, or leave the row out"
            ) from None
    sums = [sum(values[place] for place in places) for places in side.places.values()]
    for total, places in zip(sums, side.places.values()):
        if not -(2**63) <= total < 2**63:
            raise _wrong(f"column {name}, row {places[0]}: a sum has more than 64 bits", "bring smaller numbers")
    return sums
