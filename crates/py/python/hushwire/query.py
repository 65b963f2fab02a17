"""Queries: planned, explained and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hushwire import _native
from hushwire.progress import ProgressLike, Telling
from hushwire.report import Report, amount, duration
from hushwire.result import Result

if TYPE_CHECKING:
    from hushwire.session import Session

__all__ = ["Plan", "Query"]

_NETWORKS = {"local": "on this machine", "lan": "over a LAN", "wan": "over a WAN"}


class Plan:
    """The operators of a query with their numbers of rows, who learns what, and the price."""

    def __init__(self, text: str, cost: dict[str, Any], columns: list[tuple[str, str]]) -> None:
        #: The plan in words.
        self.text = text
        #: Rounds, bytes of the party that sends most, and seconds by network.
        self.cost = Report(cost)
        #: Names and types of the result's columns.
        self.columns = columns

    def _price(self) -> list[str]:
        sent = amount(self.cost["bytes_sent"])
        lines = [f"{self.cost['rounds']} rounds, {sent} from the party that sends most"]
        seconds = self.cost["seconds"]
        lines += [f"predicted {_NETWORKS[net]}: {duration(seconds[net])}" for net in _NETWORKS]
        return lines

    def __str__(self) -> str:
        return "\n".join([self.text.rstrip(), *self._price()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        operators, told = [], []
        lines = self.text.rstrip().split("\n")
        end = next((k for k, line in enumerate(lines) if line.startswith("sorts: ")), len(lines))
        for line in lines[:end]:
            depth = (len(line) - len(line.lstrip())) // 2
            name, _, rest = line.strip().rpartition(": ")
            box = (
                f"<div style='margin-left:{depth * 1.6}em;border-left:3px solid #4a7;padding:.15em .6em;"
                f"margin-bottom:.2em'><b>{html.escape(name or line.strip())}</b>"
                f" <span style='opacity:.7'>{html.escape(rest)}</span></div>"
            )
            operators.append(box)
        told = [f"<li>{html.escape(line)}</li>" for line in lines[end:] if line]
        told += [f"<li>{html.escape(line)}</li>" for line in self._price()]
        return f"<div>{''.join(operators)}<ul>{''.join(told)}</ul></div>"


class Query:
    """A planned query: :meth:`Session.query` makes one, and :meth:`Session.sql` runs it at once.

    >>> import hushwire as hw
    >>> with hw.local() as s:
    ...     q = s.query("SELECT SUM(n) AS total FROM t", t={"n": [1, 2]})
    ...     q.run().rows()
    [(Decimal('3'),)]
    """

    def __init__(
        self,
        session: Session,
        sql: str,
        native: _native.Query,
        tables: list[tuple[str, str, _native.Columns]],
    ) -> None:
        self._session = session
        self._native = native
        self._tables = tables
        #: The query.
        self.sql = sql

    @property
    def digest(self) -> str:
        """The digest of its terms. An operator allows it with ``hw.connect(…, allow=[digest])``."""
        return self._native.digest

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and types of the result's columns."""
        return self._native.columns

    def explain(self) -> Plan:
        """Return the plan: the operators, who learns what, and the price. Nothing runs.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     plan = s.query("SELECT SUM(n) AS total FROM t", t={"n": [1, 2]}).explain()
        >>> plan.columns
        [('total', 'DECIMAL(38, 0)')]
        """
        return Plan(self._native.explain(), self._native.cost(), self._native.columns)

    def run(self, *, progress: ProgressLike = None) -> Result:
        """Run the query on its session. It can run any number of times."""
        with Telling(progress, "query") as told:
            return Result(self._native.ask(self._session._native, self._tables, told))

    def __repr__(self) -> str:
        return f"<hushwire.Query {self.digest}>"

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
