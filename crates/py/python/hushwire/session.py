"""Sessions: parties that met once, and run one thing after the other."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from hushwire import _arrays, _native
from hushwire.errors import UsageError
from hushwire.progress import ProgressLike, Telling
from hushwire.query import Query
from hushwire.result import Result
from hushwire.tables import Table, of

if TYPE_CHECKING:
    from hushwire.frame import Frame

__all__ = ["Session", "connect", "local"]

#: Sessions that end when the interpreter does: their links say goodbye.
_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


class Session:
    """A session: :func:`local` and :func:`connect` open one, and it is a context manager.

    A session runs one thing at a time. After an error, a session of :func:`local` begins anew with
    the next run; one of :func:`connect` must be opened again by all parties.
    """

    def __init__(self, native: _native.Session, about: str) -> None:
        self._native = native
        self._about = about
        _OPEN.add(self)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session; a run of it that is under way in another thread is cancelled."""
        self._native.close()

    def cancel(self) -> None:
        """End the run that is under way in another thread, which raises :class:`Cancelled`."""
        self._native.cancel()

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._native.closed

    def stats(self) -> list[dict[str, Any]]:
        """Seconds, rounds and bytes of each party of this process since the session began.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     sorted(s.stats()[0])
        ['bytes_received', 'bytes_sent', 'rounds', 'seconds']
        """
        return self._native.stats()

    def run(
        self,
        computation: Union[_native.Computation, str],
        inputs: Mapping[str, Any],
        *,
        progress: ProgressLike = None,
    ) -> dict[str, Any]:
        """Run a computation: arrays go in by name, and what this process learns comes out.

        >>> import hushwire as hw
        >>> text = '''computation sum
        ... members a, b
        ... input x: u32 from a
        ... input y: u32 from b
        ... output z = x + y to a'''
        >>> with hw.local() as s:
        ...     int(s.run(text, {"x": 40, "y": 2})["z"])
        42
        """
        if isinstance(computation, str):
            computation = _native.Computation(computation)
        arrays = {name: _arrays.to_native(value) for name, value in inputs.items()}
        with Telling(progress, computation.name) as told:
            learnt = self._native.run(computation, arrays, told)
        return {name: _arrays.from_native(raw) for name, raw in learnt.items()}

    def query(
        self,
        sql: str,
        /,
        *,
        to: Union[str, Sequence[str], None] = None,
        min_group: int = 0,
        join_bound: int | None = None,
        tag_joins: bool = False,
        parameters: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        **frames: Any,
    ) -> Query:
        """Plan a query in SQL over tables, and run nothing.

        Each keyword is a table by its name: what :func:`of` returns, or a bare frame. In a session of
        :func:`local` a bare frame belongs to a member that is called as the table; in one of
        :func:`connect`, to this party. ``tables`` has those whose names are no keywords. ``to`` are
        the members who learn the result: the analyst, where nobody else is named.

        Groups of fewer than ``min_group`` rows are left out. ``join_bound`` is the most pairs of a
        join neither of whose sides has a key. ``tag_joins`` lets joins go by tags of keys, which show
        parties 1 and 2 how often keys repeat. ``parameters`` are the values of ``:name`` in the query.
        """
        given = {**(tables or {}), **frames}
        declared, brought = [], []
        for name, frame in given.items():
            table = frame if isinstance(frame, Table) else of(None, frame)
            owner = table.owner or self._native.me or name
            parts = [(owner, table.rows)]
            declared.append((name, table.columns, table.key, parts, table.padded))
            if table._data is not None:
                brought.append((name, owner, table._data))
        if to is None:
            if self._native.me is not None:
                raise UsageError(
                    step="planning the query",
                    cause="nobody is to learn the result",
                    remedy='name the same members at all parties, as to="party0"',
                )
            to = "analyst"
        recipients = [to] if isinstance(to, str) else list(to)
        values = [f"{name}={_parameter(value)}" for name, value in (parameters or {}).items()]
        native = _native.Query(
            sql, declared, recipients, values, min_group, join_bound, tag_joins
        )
        read = set(native.tables)
        return Query(self, sql, native, [one for one in brought if one[0] in read])

    def sql(
        self,
        sql: str,
        /,
        *,
        to: Union[str, Sequence[str], None] = None,
        min_group: int = 0,
        join_bound: int | None = None,
        tag_joins: bool = False,
        parameters: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        progress: ProgressLike = None,
        **frames: Any,
    ) -> Result:
        """Run a query in SQL over tables: :meth:`query` has the arguments.

        >>> import hushwire as hw
        >>> pay = hw.of("alice", {"person": [1, 2, 3], "salary": [4200, 3900, 5100]})
        >>> who = hw.of("bob", {"id": [1, 2, 3], "city": ["Tartu", "Oslo", "Tartu"]}, key="id")
        >>> with hw.local(parties=3) as s:
        ...     s.sql("SELECT city, SUM(salary) AS total FROM pay JOIN who ON person = id "
        ...           "GROUP BY city ORDER BY city", pay=pay, who=who)
        city   total
        -----  -----
        Oslo   3900
        Tartu  9300
        """
        query = self.query(
            sql,
            to=to,
            min_group=min_group,
            join_bound=join_bound,
            tag_joins=tag_joins,
            parameters=parameters,
            tables=tables,
            **frames,
        )
        return query.run(progress=progress)

    def frame(self, table: Any = None, /, **named: Any) -> Frame:
        """Begin a lazy frame of one table, whose verbs are those of polars.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [1, 2, 3]})
        ...     t.group_by("city").agg(hw.col("n").max()).sort("city").collect().rows()
        [('Oslo', 3), ('Tartu', 2)]
        """
        from hushwire.frame import Frame

        if table is not None:
            named = {"frame": table, **named}
        if len(named) != 1:
            raise UsageError(
                step="beginning a frame",
                cause=f"a frame begins with one table, and {len(named)} are given",
                remedy="write s.frame(pay=pay), and join it with s.frame(who=who)",
            )
        ((name, frame),) = named.items()
        return Frame.of(self, name, frame if isinstance(frame, Table) else of(None, frame))

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<hushwire.Session of {self._about}, {state}>"

    def __reduce__(self) -> str:
        raise UsageError(
            step="pickling",
            cause="a session cannot be pickled: its keys belong to this process",
            remedy="open a session where it is used",
        )


def local(
    parties: int = 3, *, protocol: str | None = None, threads: int | None = None
) -> Session:
    """Open a session of all parties in this process, for trials and for tests.

    Three parties compute on replicated shares (``"rep3"``), two on shares of numbers (``"two"``);
    ``protocol="authgarble"`` is for 2 to 8 parties, all but one of which may cheat. ``threads`` are
    the compute threads of each party. The process holds everybody's values.

    >>> import hushwire as hw
    >>> hw.local(parties=2)
    <hushwire.Session of 2 parties (two), open>
    """
    if protocol is None:
        protocol = {2: "two", 3: "rep3"}.get(parties, "authgarble")
    if protocol in ("authgarble", "ywz20"):
        name = f"authgarble:{parties}" + (":ywz20" if protocol == "ywz20" else "")
    else:
        name = protocol
        wanted = {"rep3": 3, "two": 2, "yao": 2, "gmw": 2}.get(protocol)
        if wanted is not None and wanted != parties:
            raise UsageError(
                step="opening the session",
                cause=f"{protocol} has {wanted} parties, and {parties} are asked for",
                remedy=f"write parties={wanted}, or protocol='authgarble'",
            )
    native = _native.Session.local(name, threads)
    return Session(native, f"{parties} parties ({protocol})")


def connect(
    file: Union[str, PathLike[str]],
    *,
    allow: Sequence[str] = (),
    label: str = "",
    protocol: str = "rep3",
    progress: ProgressLike = None,
) -> Session:
    """Open a session as the party that ``file`` describes; the others run the same lines.

    ``file`` is a party file, as ``hushwire keys`` and docs/guide/three-machines.md have it.
    ``allow`` are the digests of what this party takes part in; without any, it takes part in
    everything that this program runs. ``label`` keeps apart sessions that must not be mixed up.
    """
    with Telling(progress, "connecting") as told:
        native = _native.Session.connect(fspath(file), label, list(allow), protocol, told)
    return Session(native, f"the party of {fspath(file)}")


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@atexit.register
def _close_all() -> None:
    for session in list(_OPEN):
        session.close()
