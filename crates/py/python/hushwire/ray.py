"""The shards of a party on its own Ray cluster.

Each party has a cluster, and a driver in it that calls :func:`party`. An actor holds a shard. It runs
``hushwire party … --shard N`` on the node that the hosts file names. This process connects to the
other parties and to the party's other shards itself. Ray places actors, and moves inputs: Parquet
files to all shards, each of which reads its own rows, and other tables to the first shard. Shares
never pass through Ray.

**Ray repeats nothing by itself.** A lost actor fails the run at all parties. The drivers then begin
the next try, with new processes, new sessions and new seeds. If one part of a run were repeated
alone, it would hide other values under masks that were used before.

Keys stay on the nodes, where the party's key and its file are read. Ray's own traffic, with the rows
of ``data``, is not encrypted unless ``RAY_USE_TLS=1`` is set.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hushwire.errors import KINDS, InternalError, NetworkError, PartyError, UsageError
from hushwire.progress import Progress, ProgressLike, Telling

__all__ = ["Hosts", "Outcome", "party"]

#: Seconds between a failure and the next try, in which the other parties notice the failure.
PAUSE = 3.0
#: Seconds between two looks of the driver at its actors.
LOOK = 0.25
#: Seconds that a process may take to end by itself before it is killed.
GRACE = 5.0
#: Options with which Ray never repeats a task or an actor.
NEVER = {"max_restarts": 0, "max_task_retries": 0}


class Hosts(NamedTuple):
    """The addresses of a party's shards, in order, as in a hosts file."""

    #: The address on which each shard listens for other members.
    listen: Sequence[str]
    #: The address at which the party's other shards find each shard.
    address: Sequence[str]

    def toml(self) -> str:
        """The hosts file.

        >>> print(Hosts(["0.0.0.0:7000"], ["10.0.0.1:7100"]).toml(), end="")
        [[shards]]
        listen = "0.0.0.0:7000"
        address = "10.0.0.1:7100"
        """
        one = "[[shards]]\nlisten = {}\naddress = {}\n"
        return "".join(one.format(*map(json.dumps, pair)) for pair in zip(self.listen, self.address, strict=True))

    def node(self, shard: int) -> str:
        """The host of a shard.

        >>> Hosts(["0.0.0.0:7000"], ["[::1]:7100"]).node(0)
        '::1'
        """
        return self.address[shard].rsplit(":", 1)[0].strip("[]")


class Outcome(NamedTuple):
    """The end of a run at one party."""

    #: The result of this party, as ``hushwire party`` prints it; empty if it learns nothing.
    result: str
    #: The reports of all shards, in the form of ``--json``.
    reports: list[dict[str, Any]]
    #: The number of tries that were begun.
    tries: int


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError(
            step="starting shards",
            cause="it needs Ray, which is not installed",
            remedy="pip install 'hushwire[ray]'",
        ) from None


def _fault(lines: Sequence[str], code: int) -> PartyError:
    """The error that a process reported on its standard error, or the error of its exit code."""
    for line in reversed(lines):
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and told.get("level") == "ERROR" and "cause" in told:
            kind = KINDS.get(str(told.get("kind")), InternalError)
            parts = {name: told.get(name) for name in ("step", "cause", "remedy", "code")}
            return kind(party=told.get("who"), **{name: str(part or "") for name, part in parts.items()})
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return NetworkError(step="the run", cause=f"the process of a shard {how}", remedy="see the log of its node")


def _ends_with_its_actor() -> None:
    """Makes the system kill this process when the thread that started it ends. So an actor that Ray
    kills leaves no party process behind."""
    # PR_SET_PDEATHSIG of Linux.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class _Shard:
    """An actor: one shard's process. It keeps nothing between runs."""

    def __init__(self, shard: int, program: Sequence[str]) -> None:
        self.shard, self.program = shard, list(program)
        self.process: subprocess.Popen[bytes] | None = None
        self.told = Progress("phase", "starting", 0, 0)
        self.lines: list[str] = []

    def pid(self) -> tuple[int, int]:
        """The process ids of the actor and of the shard; the latter is 0 before it runs."""
        return os.getpid(), self.process.pid if self.process else 0

    def progress(self) -> Progress:
        """The step under way."""
        return self.told

    def run(self, job: str, config: str, hosts: str, label: str, data: Mapping[str, tuple[str, Any]]) -> Any:
        """Runs the shard to its end, and returns its result and its report, or its error."""
        place = Path(tempfile.mkdtemp(prefix="hushwire-ray-"))
        try:
            return self._run(place, job, config, hosts, label, data)
        finally:
            self.stop()
            shutil.rmtree(place, ignore_errors=True)

    def _run(
        self, place: Path, job: str, config: str, hosts: str, label: str, data: Mapping[str, tuple[str, Any]]
    ) -> Any:
        (place / "hosts.toml").write_text(hosts)
        words = [*self.program, "--log-format", "json", "-vv", "party", job, "--config", config, "--run", label]
        words += ["--shards", str(place / "hosts.toml"), "--shard", str(self.shard)]
        words += ["--json", str(place / "report.json")]
        for name, (suffix, rows) in data.items():
            path = place / f"{name}{suffix}"
            path.touch(mode=0o600)
            path.write_bytes(_ray().get(rows))
            words += ["--bring", f"{name}={path}"]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_ends_with_its_actor
        )
        ears = threading.Thread(target=self._hear, args=(self.process.stderr,), daemon=True)
        ears.start()
        assert self.process.stdout is not None
        result = self.process.stdout.read().decode()
        code = self.process.wait()
        ears.join()
        if code != 0:
            return _fault(self.lines, code)
        return result, json.loads((place / "report.json").read_text())

    def _hear(self, stderr: Any) -> None:
        for raw in stderr:
            line = raw.decode(errors="replace").rstrip("\n")
            try:
                told = json.loads(line)
            except ValueError:
                told = None
            if isinstance(told, dict) and "done" in told and "of" in told:
                self.told = Progress("progress", str(told.get("operator", "")), int(told["done"]), int(told["of"]))
            elif isinstance(told, dict) and told.get("level") in ("TRACE", "DEBUG"):
                continue
            else:
                self.lines = [*self.lines[-99:], line]
                # Ray shows it in its dashboard, in the log of the actor.
                print(line, file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Ends the shard's process, by its id."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _rows(ray: Any, name: str, table: Any) -> tuple[str, Any]:
    """A table as bytes in the object store: a path, bytes of a file, or a data frame."""
    if isinstance(table, (str, os.PathLike)):
        path = Path(table)
        return "".join(path.suffixes), ray.put(path.read_bytes())
    if isinstance(table, (bytes, bytearray)):
        return (".parquet" if bytes(table[:4]) == b"PAR1" else ".csv"), ray.put(bytes(table))
    for write, suffix in (("write_csv", ".csv"), ("to_csv", ".csv")):
        if hasattr(table, write):
            text = table.to_csv(index=False) if write == "to_csv" else table.write_csv()
            return suffix, ray.put(text.encode())
    raise UsageError(
        step=f"table {name}",
        cause=f"a {type(table).__name__} is no table",
        remedy="give a path, the bytes of a file, or a frame of polars or pandas",
    )


def _of_shard(staged: Mapping[str, tuple[str, Any]], shard: int) -> dict[str, tuple[str, Any]]:
    """The tables that a shard takes. The first shard takes all tables. The others take Parquet files, of
    which each reads its own rows.

    >>> _of_shard({"a": (".csv", 1), "b": (".parquet", 2)}, 1)
    {'b': ('.parquet', 2)}
    """
    return {name: table for name, table in staged.items() if shard == 0 or table[0].endswith(".parquet")}


def _places(ray: Any, hosts: Hosts, cpus: float) -> list[dict[str, float]]:
    """A bundle for each shard: on the node with the resource ``shard-N``, else on the node of its
    address, else on any node."""
    known = ray.cluster_resources()
    bundles: list[dict[str, float]] = []
    for shard in range(len(hosts.address)):
        pins = [pin for pin in (f"shard-{shard}", f"node:{hosts.node(shard)}") if pin in known]
        bundles.append({"CPU": cpus, **dict.fromkeys(pins[:1], 0.001)})
    return bundles


def _try(ray: Any, actors: Sequence[Any], orders: Sequence[Sequence[Any]], hears: Any) -> list[Any]:
    """Runs all shards, and ends as soon as one has failed."""
    waits = {actor.run.remote(*order): at for at, (actor, order) in enumerate(zip(actors, orders, strict=True))}
    ended: list[Any] = [None] * len(actors)
    errors: list[PartyError] = []
    deadline: float | None = None
    while waits and (deadline is None or time.monotonic() < deadline):
        done, _ = ray.wait(list(waits), timeout=LOOK)
        for ref in done:
            at = waits.pop(ref)
            try:
                ended[at] = ray.get(ref)
            except ray.exceptions.RayError as e:
                cause = f"shard {at} is lost: {type(e).__name__}"
                errors.insert(0, NetworkError(step="the run", cause=cause, remedy="see Ray's log of the actor"))
                continue
            if isinstance(ended[at], PartyError):
                errors.append(ended[at])
        if errors and deadline is None:
            # The other shards notice it by the closed links of the lost shard, and end with errors
            # of their own.
            deadline = time.monotonic() + 2 * GRACE
        if not done and not errors and hears is not None:
            try:
                hears(*ray.get(actors[0].progress.remote(), timeout=5))
            except ray.exceptions.RayError:
                pass
    if not errors:
        return ended
    # An error that another shard's end caused says less than the first error.
    raise min(errors, key=lambda e: e.code in ("HW0145", "HW0107", "HW0102"))


def party(
    job: str | os.PathLike[str],
    config: str | os.PathLike[str],
    hosts: Hosts,
    *,
    data: Mapping[str, Any] | None = None,
    run: str = "",
    retries: int = 0,
    cpus: float = 2,
    program: Sequence[str] = (sys.executable, "-m", "hushwire"),
    progress: ProgressLike = None,
    timeout: float = 60,
) -> Outcome:
    """Be one party of a job that runs on shards, in the Ray cluster to which this process is connected.

    ``job`` and ``config`` are paths that exist on every node, and so does the key that ``config``
    names. ``data`` are this party's tables by name, in place of the files of ``config``: paths of local
    files, bytes, or frames. They go to the object store once, and are used in every try. ``config``
    names the files that are too large for it. If all nodes mount a store, its Parquet files are read in
    parts. ``cpus`` is the number that Ray reserves for each shard. All parties give the same ``run``
    and ``retries``.

    :raises UsageError: Ray is not installed, or the cluster has no room for the shards.
    :raises PartyError: a shard failed, and no retries are left.
    """
    ray = _ray()
    if not ray.is_initialized():
        raise UsageError(
            step="starting shards",
            cause="this process is connected to no Ray cluster",
            remedy="call ray.init(address=…, namespace=…) with this party's own cluster first",
        )
    placement = importlib.import_module("ray.util.placement_group")
    strategy = importlib.import_module("ray.util.scheduling_strategies").PlacementGroupSchedulingStrategy
    staged = {name: _rows(ray, name, table) for name, table in (data or {}).items()}
    toml, shards = hosts.toml(), len(hosts.address)
    with Telling(progress, "party") as hears:
        for tries in range(1, retries + 2):
            # All shards have places before the first of them begins.
            group = placement.placement_group(_places(ray, hosts, cpus), strategy="SPREAD")
            actors: list[Any] = []
            try:
                if not group.wait(timeout):
                    raise UsageError(
                        step="starting shards",
                        cause=f"the cluster has no room for {shards} shards of {cpus} CPUs within {timeout:g} s",
                        remedy="add nodes, or ask for fewer CPUs",
                    )
                kind = ray.remote(_Shard)
                for shard in range(shards):
                    place = strategy(placement_group=group, placement_group_bundle_index=shard)
                    options = kind.options(num_cpus=cpus, scheduling_strategy=place, max_concurrency=4, **NEVER)
                    actors.append(options.remote(shard, list(program)))
                # Each shard takes its tables from the object store itself.
                orders = [(str(job), str(config), toml, run, _of_shard(staged, shard)) for shard in range(shards)]
                ended = _try(ray, actors, orders, hears)
                return Outcome(ended[0][0], [report for _, report in ended], tries)
            except NetworkError:
                if tries > retries:
                    raise
                time.sleep(PAUSE)
            finally:
                for actor in actors:
                    _end(ray, actor)
                placement.remove_placement_group(group)
    raise InternalError(step="the run", cause="it had no try", remedy="please report this")


def _end(ray: Any, actor: Any) -> None:
    """Ends an actor and its process, if they still run."""
    try:
        ray.get(actor.stop.remote(), timeout=2 * GRACE)
    except ray.exceptions.RayError:
        pass
    ray.kill(actor, no_restart=True)
