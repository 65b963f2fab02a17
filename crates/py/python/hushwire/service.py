"""The client of the service: data sets, jobs and results at parties that stay up."""

from __future__ import annotations

import csv
import html
import io
import json
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike, fspath, path
from typing import Any, Union

from hushwire import _native
from hushwire.errors import UsageError
from hushwire.progress import ProgressLike, Telling
from hushwire.report import Report, Reports
from hushwire.tables import Table, of

__all__ = ["Job", "JobResult", "Service"]

Path = Union[str, "PathLike[str]"]

#: The final states of a job. In the first of them, results can be fetched.
_ENDS = ("committed", "delivered", "failed", "cancelled")


class Service:
    """The parties of a group, from a file of the service; docs/service.md explains it.

    ``keys`` is the person's file of keys, which signs data sets and opens results.
    """

    def __init__(self, file: Path, *, keys: Path | None = None) -> None:
        self._native = _native.Service(fspath(file))
        self._keys = None if keys is None else fspath(keys)

    @property
    def group(self) -> str:
        """The group's name."""
        return self._native.group

    def _person(self, keys: Path | None) -> str:
        chosen = self._keys if keys is None else fspath(keys)
        if chosen is None:
            raise UsageError(
                step="asking the service",
                cause="it takes a file of keys",
                remedy='open it with hw.Service(file, keys="me.keys")',
            )
        return chosen

    def get(self, where: str) -> list[Any]:
        """The answer of each party at a path of its interface, such as ``/v1/datasets``."""
        return [json.loads(text) for text in self._native.get(where)]

    def datasets(self) -> Reports:
        """The data sets that party 0 knows."""
        return Reports(self.get("/v1/datasets")[0]["datasets"])

    def put(
        self,
        frame: Any,
        name: str,
        *,
        key: Union[str, Sequence[str]] = (),
        columns: Mapping[str, str] | None = None,
        pad: int | None = None,
        keys: Path | None = None,
    ) -> str:
        """Share a table among the parties, encrypted to each, and return the data set's id.

        The arguments are those of :func:`hushwire.of`. Each party gets only shares, so no party has
        the table at any time.
        """
        table = frame if isinstance(frame, Table) else of(None, frame, key=key, columns=columns, pad=pad)
        sent = (name, table.columns, table.key, table.rows if table.padded else None)
        if table._data is None:
            raise UsageError(
                step="putting a table",
                cause="the table has no frame",
                remedy="bring a data frame",
            )
        with tempfile.TemporaryDirectory(prefix="hushwire-put-") as place:
            parts = path.join(place, "sealed")
            return self._native.put(table._data, sent, self._person(keys), parts)

    def submit(
        self,
        digest: str | None = None,
        *,
        proposal: str | None = None,
        data: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        recipients: Mapping[str, Path] | None = None,
        priority: int = 0,
        key: str | None = None,
    ) -> Job:
        """Submit a job that the parties have approved, by its digest or its proposal.

        ``data`` are ids of data sets by their names in the job. ``recipients`` are files of keys by
        the names of recipients in the job. A job that is submitted again with the same ``key`` is the
        same job.
        """
        values = {name: str(value) for name, value in (parameters or {}).items()}
        sealed = {name: fspath(keys) for name, keys in (recipients or {}).items()}
        chosen = secrets.token_hex(16) if key is None else key
        made = self._native.submit(proposal, digest, dict(data or {}), values, sealed, priority, chosen)
        return Job(self, made)

    def job(self, id: str) -> Job:
        """A job that was submitted before."""
        return Job(self, id)

    def __repr__(self) -> str:
        return f"<hushwire.Service of {self.group}>"


class Job:
    """A job of the service."""

    def __init__(self, service: Service, id: str) -> None:
        self._service = service
        #: The job's id.
        self.id = id

    def state(self) -> Report:
        """The state of the job at party 0."""
        return Report(self._service.get(f"/v1/jobs/{self.id}")[0])

    def wait(self, *, limit: float | None = None, progress: ProgressLike = None) -> Report:
        """Wait until the job has ended at all parties, for at most ``limit`` seconds. A failure is raised."""
        import time

        began = time.monotonic()
        with Telling(progress, "job") as told:
            pause = 0.05
            while progress:
                view = self.state()
                at = view.get("progress") or {}
                told("phase", str(at.get("phase") or view["state"]), 0, 0)
                if at.get("of"):
                    told("progress", "", int(at.get("done") or 0), int(at["of"]))
                over = limit is not None and time.monotonic() - began >= limit
                if view["state"] in _ENDS or over:
                    break
                time.sleep(pause)
                pause = min(2 * pause, 1.0)
            left = None if limit is None else max(0.0, limit - (time.monotonic() - began))
            views = self._service._native.wait(self.id, left)
        return Report(json.loads(views[0]))

    def result(self, *, output: str | None = None, keys: Path | None = None) -> JobResult:
        """Fetch the result from all parties, and decrypt it."""
        fetched = self._service._native.fetch(self.id, self._service._person(keys), output)
        return JobResult(*fetched)

    def cancel(self) -> None:
        """Cancel the job."""
        self._service._native.cancel(self.id)

    def __repr__(self) -> str:
        return f"<hushwire.Job {self.id}>"


class JobResult:
    """The result of a job, opened with the recipient's keys."""

    def __init__(self, output: str, text: str, tables: dict[str, bytes]) -> None:
        #: The recipient, who is the output's name.
        self.output = output
        #: The result as parsed JSON.
        self.json: Any = json.loads(text)
        #: The result's tables as CSV, by name.
        self.csv = tables

    def _table(self) -> bytes:
        if len(self.csv) != 1:
            raise UsageError(
                step="reading the result",
                cause=f"it has {len(self.csv)} tables",
                remedy="take .csv or .json",
            )
        return next(iter(self.csv.values()))

    def rows(self) -> list[dict[str, str]]:
        """The rows of the result's table, as texts by column."""
        return list(csv.DictReader(io.StringIO(self._table().decode())))

    def pl(self) -> Any:
        """The result's table as a data frame of polars."""
        from hushwire.result import _optional

        return _optional("polars", ".pl()").read_csv(io.BytesIO(self._table()))

    def df(self) -> Any:
        """The result's table as a data frame of pandas."""
        from hushwire.result import _optional

        return _optional("pandas", ".df()").read_csv(io.BytesIO(self._table()))

    def __repr__(self) -> str:
        return f"<hushwire.JobResult for {self.output}>"

    def _repr_html_(self) -> str:
        from hushwire.report import table

        shown = []
        for text in self.csv.values():
            head, *rows = list(csv.reader(io.StringIO(text.decode()))) or [[]]
            shown.append(table(head, rows[:20]))
        return "".join(shown) or f"<pre>{html.escape(json.dumps(self.json, indent=2))}</pre>"
