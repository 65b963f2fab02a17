"""The public facts that parties of a session tell each other before they compute: columns and row
counts of tables, and the networks of models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Union

from hushwire import _arrays, _native
from hushwire.errors import Refused, UsageError
from hushwire.tables import Table, _joined, of

_Told = Callable[[str, str, int, int], object]


def _refused(party: int, cause: str, remedy: str) -> Refused:
    return Refused(party=f"party {party}", step="telling the others", cause=cause, remedy=remedy)


def exchange(native: _native.Session, own: Mapping[str, Any], told: _Told | None = None) -> list[dict[str, Any]]:
    """Tell all parties ``own``, and return the facts of each party, in order."""
    found = []
    for party, data in enumerate(native.tell(json.dumps(own), told)):
        try:
            one = json.loads(data)
        except (ValueError, RecursionError):
            one = None
        if not isinstance(one, dict):
            raise _refused(party, "what it tells is not readable", "run the same program everywhere")
        found.append(one)
    return found


def tables(native: _native.Session, given: Mapping[str, Any]) -> dict[str, Table]:
    """The tables of all parties, by name. ``given`` are those that this party has or declares."""
    me = native.me
    made = {}
    for name, frame in given.items():
        table = frame if isinstance(frame, Table) else of(None, frame)
        made[name] = table._of(table.owner or me or name)
    if me is None:
        return made
    own = {}
    for name, table in made.items():
        for part in table.parts:
            if part._data is not None and part.owner != me:
                raise UsageError(
                    step="telling the others",
                    cause=f"table {name} is {part.owner}'s, and this process is {me}",
                    remedy="bring frames of tables that are this party's own",
                )
            if part._data is not None:
                own[name] = {**_declared(part), "part": table is not part}
    #: Parts of tables that several parties bring, by owner.
    parts = {name: {part.owner: part for part in table.parts} for name, table in made.items() if table._parts}
    for party, told in enumerate(exchange(native, {"tables": own})):
        listed = told.get("tables")
        if f"party{party}" == me or not isinstance(listed, dict):
            continue
        for name, declared in listed.items():
            table, is_part = _told(party, declared)
            mine = made.get(name)
            if is_part and (mine is None or name in parts):
                parts.setdefault(name, {})[f"party{party}"] = table
                made[name] = table
                continue
            if mine is not None and (mine.owner != table.owner or is_part or name in parts):
                raise _refused(
                    party,
                    f"it brings a table {name}, which {mine.owner or 'another party'} brings, too",
                    "name one of them otherwise, or write hw.parts at each party that brings a part",
                )
            if mine is not None and mine.is_known and _declared(mine) != _declared(table):
                raise _refused(
                    party,
                    f"table {name} is declared otherwise here, and it tells {table!r}",
                    f'write hw.of("party{party}"), or the same columns, key and rows',
                )
            made[name] = table
    for name, of_table in parts.items():
        made[name] = _joined([of_table[owner] for owner in sorted(of_table, key=str)])
    for name, table in made.items():
        for part in table.parts:
            if not part.is_known:
                raise UsageError(
                    step="telling the others",
                    cause=f"nobody brings table {name}",
                    remedy=f"let {part.owner} bring a frame for it, or declare columns= and rows=",
                )
    # The parties also agree on the order.
    return dict(sorted(made.items()))


def _declared(table: Table) -> dict[str, Any]:
    return {"columns": table.columns, "key": table.key, "rows": table.rows, "padded": table.padded}


def _told(party: int, declared: Any) -> tuple[Table, bool]:
    """The table that a party declares, and whether it is a part of a table."""

    def texts(of: Any) -> bool:
        return isinstance(of, list) and all(isinstance(one, str) for one in of)

    if (
        not isinstance(declared, dict)
        or not texts(declared.get("columns"))
        or not texts(declared.get("key"))
        or type(declared.get("rows")) is not int
        or not 0 <= declared["rows"] < 2**63
        or not declared["columns"]
        or type(declared.get("padded")) is not bool
        or type(declared.get("part", False)) is not bool
    ):
        raise _refused(party, "it declares a table in no known form", "run the same program everywhere")
    columns, key = declared["columns"], declared["key"]
    table = Table(f"party{party}", None, columns, key, declared["rows"], declared["padded"])
    return table, declared.get("part", False)


def run_onnx(
    native: _native.Session,
    model: Union[str, PathLike[str], bytes, None],
    input: Any,
    owner: str,
    client: str,
    told: _Told | None,
) -> Any:
    """Run a model on a session: :meth:`hushwire.Session.run_onnx` has the arguments."""
    from hushwire.jobs import floats, read_model

    def wrong(cause: str, remedy: str) -> UsageError:
        return UsageError(step="starting the run", cause=cause, remedy=remedy)

    me = native.me
    owns, brings = me in (None, owner), me in (None, client)
    if owner == client:
        raise wrong("the model's owner is the client", "let two parties be owner and client")
    for name, is_mine, value, who in (("model", owns, model, owner), ("input", brings, input, client)):
        if is_mine and value is None:
            raise wrong(f"the {name} is missing", f"give it at {who}, which this process is")
        if not is_mine and value is not None:
            raise wrong(f"the {name} is {who}'s, and this process is {me}", "leave it out here")
    onnx = read_model(model) if owns else None
    array = _arrays.to_native(floats(input)) if brings else None
    shape = list(array[1]) if array is not None else None
    if me is not None:
        shapes = [one.get("shape") for one in exchange(native, {"shape": shape} if brings else {}, told)]
        shape = _one(shapes, client, lambda n: type(n) is int and 0 <= n < 2**32)
    network, text = None, None
    if onnx is not None:
        names = ("owner", "client") if me is None else (owner, client)
        network = _native.Network(onnx, shape, *names)
        text = network.computation.text
    if me is not None:
        texts = [one.get("network") for one in exchange(native, {"network": [text]} if owns else {}, told)]
        text = _one(texts, owner, lambda part: isinstance(part, str))[0]
    if network is not None:
        computation = network.computation
    else:
        assert text is not None
        computation = _native.Computation(text)
    given = None if array is None else (array[1], array[2])
    made = native.infer(computation, network, given, told)
    return None if made is None else _arrays.of_floats(*made)


def _one(told: list[Any], who: str, fits: Callable[[Any], bool]) -> list[Any]:
    """The list that one party tells."""
    party = int(who.removeprefix("party")) if who.removeprefix("party").isdigit() else -1
    if not 0 <= party < len(told):
        raise UsageError(
            step="starting the run",
            cause=f"the session has no {who}",
            remedy=f"name party0 to party{len(told) - 1}",
        )
    one = told[party]
    if not isinstance(one, list) or not one or not all(map(fits, one)):
        raise _refused(party, "it does not tell its part of the network", "run the same lines everywhere")
    return one
