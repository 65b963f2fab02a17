"""Sessions: parties that meet once, and then run one computation after the other."""

from __future__ import annotations

import atexit
import re
import weakref
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from hushwire import _arrays, _native
from hushwire.errors import UsageError
from hushwire.progress import ProgressLike, Telling
from hushwire.query import Query
from hushwire.report import Reports
from hushwire.result import Result
from hushwire.tables import Table, of

if TYPE_CHECKING:
    from hushwire.frame import Frame
    from hushwire.jobs import Intersection

__all__ = ["Session", "connect", "local"]

#: Sessions that end with the interpreter, so that their links send a goodbye.
_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


class Session:
    """A session. :func:`local` and :func:`connect` open one, and it is a context manager.

    A session runs one computation at a time. After an error, a session of :func:`local` begins anew
    with the next run. A session of :func:`connect` must be opened again by all parties.
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
        """End the session, and cancel its run in another thread, if there is one."""
        self._native.close()

    def cancel(self) -> None:
        """End the run in another thread, which raises :class:`Cancelled` there."""
        self._native.cancel()

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._native.closed

    def stats(self) -> Reports:
        """Seconds, rounds and bytes of each party of this process since the session began.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     sorted(s.stats()[0])
        ['bytes_received', 'bytes_sent', 'rounds', 'seconds']
        """
        return Reports(self._native.stats())

    def run(
        self,
        computation: Union[_native.Computation, str],
        inputs: Mapping[str, Any],
        *,
        progress: ProgressLike = None,
    ) -> dict[str, Any]:
        """Run a computation on arrays by name, and return the outputs that this process learns.

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

    def digest_of(self, computation: Union[_native.Computation, str]) -> str:
        """The digest of the terms on which this session's protocol runs a computation, for
        ``hw.connect(…, allow=[…])``.

        >>> import hushwire as hw
        >>> text = "computation c\\nmembers a, b\\ninput x: u8 from a\\noutput y = x to b"
        >>> with hw.local() as s:
        ...     s.digest_of(text)[:7]
        'blake3:'
        """
        if isinstance(computation, str):
            computation = _native.Computation(computation)
        return self._native.digest_of(computation)

    def tables(self, tables: Mapping[str, Any] | None = None, /, **frames: Any) -> dict[str, Table]:
        """Tell the other parties the columns and row counts of this party's tables, and learn theirs.

        All parties call it at the same time; :meth:`query` and :meth:`sql` do so themselves. In a
        session of :func:`local`, the result is the given tables. The parties only tell the facts
        that are public according to :func:`of`.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.tables(pay={"salary": [4200, 3900]})
        {'pay': <hushwire.Table of pay: 2 rows, salary BIGINT NOT NULL>}
        """
        from hushwire import _exchange

        return _exchange.tables(self._native, {**(tables or {}), **frames})

    def psi(
        self,
        a: Any = None,
        b: Any = None,
        on: Union[str, Sequence[str]] = "key",
        *,
        reveal: str = "size",
        forms: Sequence[str] = (),
        to: Sequence[str] = (),
        progress: ProgressLike = None,
    ) -> Intersection:
        """Find the keys that two tables share, as a query of this session's parties.

        The arguments and the result are those of :func:`hushwire.psi`, which is a separate protocol
        of two parties. Here the parties of the session compute on shares of digests, with the
        session's security. In a session of :func:`connect`, party 0 brings ``a``, and party 1 brings
        ``b``. All parties learn the numbers of rows.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.psi(["ann@x", "bob@x"], ["eve@x", "ann@x"], reveal="items").items
        ['ann@x']
        """
        from hushwire import _intersection

        return _intersection.of_session(self, (a, b), on, reveal, forms, to, progress)

    def run_onnx(
        self,
        model: Union[str, PathLike[str], bytes, None] = None,
        input: Any = None,
        *,
        owner: str = "party0",
        client: str = "party1",
        progress: ProgressLike = None,
    ) -> Any:
        """Run a neural network on this session. Its owner keeps the weights, and only the client learns
        the output.

        ``model`` is the path of an ONNX file, or its bytes. ``input`` is an array of the shape that
        the network takes. In a session of :func:`connect`, the owner gives the model, the client gives
        the input, and other parties give neither. All but the client get None. All parties learn the
        network's operators and shapes. docs/models.md lists the operators.

        >>> import hushwire as hw, base64
        >>> y_is_2_a_plus_b_half = base64.b64decode(
        ...     "CAg6VwoRCgF4CgF3EgF5IgZNYXRNdWwSA25ldCoTCAIIARABQgF3SggAAABAAAAAP1oTCgF4"
        ...     "Eg4KDAgBEggKAggBCgIIAmITCgF5Eg4KDAgBEggKAggBCgIIAUIECgAQDQ==")
        >>> with hw.local() as s:
        ...     [float(s.run_onnx(y_is_2_a_plus_b_half, [[a, 4.0]])[0][0]) for a in (1.0, 2.5)]
        [4.0, 7.0]
        """
        from hushwire import _exchange

        with Telling(progress, "model") as told:
            return _exchange.run_onnx(self._native, model, input, owner, client, told)

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

        Each keyword names a table: the result of :func:`of`, or a bare frame. In a session of
        :func:`local`, a bare frame belongs to a member with the name of the table. In a session of
        :func:`connect`, it belongs to this party, and parties tell each other the columns and row
        counts of their tables, as in :meth:`tables`. ``tables`` has the tables whose names cannot be
        keywords. ``to`` are the members that learn the result; by default it is the analyst.

        Groups of fewer than ``min_group`` rows are left out. ``join_bound`` is the largest number of
        pairs in a join without a key on either side. ``tag_joins`` allows joins by tags of keys, which
        show parties 1 and 2 how often keys repeat. ``parameters`` are the values of ``:name`` in the
        query.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     query = s.query("SELECT SUM(n) AS total FROM t WHERE n > :least", t={"n": [1, 5, 9]},
        ...                     parameters={"least": 4})
        ...     query.columns, query.run().rows()
        ([('total', 'DECIMAL(38, 0)')], [(Decimal('14'),)])
        """
        if not isinstance(sql, str):
            raise UsageError(
                step="planning the query",
                cause=f"the query is {type(sql).__name__}, and no text",
                remedy='write it, as in s.sql("SELECT …", …)',
            )
        if to is None:
            if self._native.me is not None:
                raise UsageError(
                    step="planning the query",
                    cause="nobody is to learn the result",
                    remedy='name the same members at all parties, as to="party0"',
                )
            to = "analyst"
        declared, brought = [], []
        known = self.tables(tables, **frames)
        for name, table in known.items():
            parts = [(part.owner or name, part) for part in table.parts]
            sizes = [(owner, part.rows) for owner, part in parts]
            declared.append((name, table.columns, table.key, sizes, table.padded))
            brought += [(name, owner, part._data) for owner, part in parts if part._data is not None]
        recipients = [to] if isinstance(to, str) else list(to)
        values = [f"{name}={_parameter(value)}" for name, value in (parameters or {}).items()]
        _check_stars(sql, known)
        try:
            native = _native.Query(
                sql, declared, recipients, values, min_group, join_bound, tag_joins
            )
        except UsageError as error:
            raise _with_reason(error, known) from None
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
        """Run a query in SQL over tables. The arguments are those of :meth:`query`.

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
        """Begin a lazy frame of one table, with the methods of polars.

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

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.stats()._repr_html_()}"

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

    Three parties compute on replicated shares (``"rep3"``), and two on shares of numbers (``"two"``).
    ``protocol="authgarble"`` is for 2 to 8 parties, all but one of which may be corrupted. ``threads``
    is the number of compute threads of each party. This process holds the values of all parties.

    >>> import hushwire as hw
    >>> hw.local(parties=2)
    <hushwire.Session of 2 parties (two), open>
    """
    if protocol is None:
        protocol = {2: "two", 3: "rep3"}.get(parties, "authgarble")
    if protocol in ("authgarble", "ywz20"):
        if not 2 <= parties <= 8:
            raise UsageError(
                step="opening the session",
                cause=f"{protocol} has 2 to 8 parties, and {parties} are asked for",
                remedy="write parties=3, or another number from 2 to 8",
            )
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

    ``file`` is a party file; docs/guide/three-machines.md explains it. ``allow`` are the digests of the
    jobs in which this party takes part. Without any, it takes part in all jobs of this program.
    ``label`` distinguishes sessions that must not be mixed up.

    >>> import hushwire as hw
    >>> hw.connect("absent.toml")
    Traceback (most recent call last):
    hushwire.errors.FileError: cannot read absent.toml: No such file or directory (os error 2); ...
    """
    with Telling(progress, "connecting") as told:
        native = _native.Session.connect(fspath(file), label, list(allow), protocol, told)
    return Session(native, f"the party of {fspath(file)}")


def _check_stars(sql: str, tables: Mapping[str, Table]) -> None:
    """Refuse ``*`` for a table with columns that SQL cannot take."""
    if re.search(r"(\bSELECT|\bDISTINCT|\bALL|,|\.)\s*\*", sql, re.IGNORECASE) is None:
        return
    for table in tables.values():
        for cause, remedy in table._left_out.values():
            raise UsageError(step="planning the query", cause=f"* is all columns, and {cause}", remedy=remedy)


def _with_reason(error: UsageError, tables: Mapping[str, Table]) -> UsageError:
    """The error; if it names a column that was left out, an error with the reason for that."""
    named = re.search(r"no column is called (.*)", error.cause)
    name = named[1].strip("\"`").rpartition(".")[2] if named else ""
    for table in tables.values():
        if name in table._left_out:
            cause, remedy = table._left_out[name]
            return UsageError(step=error.step, cause=cause, remedy=remedy, code=error.code)
    return error


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@atexit.register
def _close_all() -> None:
    for session in list(_OPEN):
        session.close()
