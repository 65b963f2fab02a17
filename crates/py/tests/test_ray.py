"""Shards of three parties on three Ray clusters of this host, 127.0.0.2 to 127.0.0.4.

Each test ends the processes that it started, by their ids.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hushwire import ray as hr

FULL = os.environ.get("HUSHWIRE_FULL") == "yes"
NEEDS = pytest.mark.skipif(
    not FULL or importlib.util.find_spec("ray") is None,
    reason="three Ray clusters take a minute: HUSHWIRE_FULL=yes, and Ray has to be installed",
)
SQL = "SELECT city, SUM(salary) AS total FROM salaries JOIN people ON person = id GROUP BY city ORDER BY city"
DRIVER = """
import sys
import ray
from hushwire.ray import Hosts, party

address, job, config, data, retries, *hosts = sys.argv[1:]
ray.init(address=address, namespace="party", log_to_driver=False)
half = len(hosts) // 2
tables = {"people": data} if data else {}
steps = []
end = party(job, config, Hosts(hosts[:half], hosts[half:]), data=tables, retries=int(retries), cpus=1,
            progress=lambda event: steps.append(event.kind))
print(end.result, end="")
print(f"tries {end.tries}, shards {len(end.reports)}", file=sys.stderr)
"""


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [pid, *(child for one in found for child in children(int(one)))]


class Cluster:
    """A head node, started in the foreground."""

    def __init__(self, index: int, port: int) -> None:
        self.address, self.temp = f"127.0.0.{2 + index}:{port}", tempfile.mkdtemp(prefix="hw", dir="/tmp")
        ports = ["node-manager", "object-manager", "dashboard", "dashboard-agent-listen", "dashboard-agent-grpc"]
        words = [Path(sys.executable).parent / "ray", "start", "--head", "--block", "--disable-usage-stats"]
        words += [f"--node-ip-address=127.0.0.{2 + index}", f"--port={port}", f"--temp-dir={self.temp}"]
        words += [f"--{name}-port={port + 1 + i}" for i, name in enumerate(ports)]
        words += [f"--runtime-env-agent-port={port + 7}", f"--metrics-export-port={port + 8}"]
        words += [f"--min-worker-port={port + 20}", f"--max-worker-port={port + 60}", "--include-dashboard=false"]
        words += ["--num-cpus=4", "--object-store-memory=80000000"]
        with open(Path(self.temp) / "log", "w") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)

    def end(self) -> None:
        ids = children(self.process.pid)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        for pid in ids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        shutil.rmtree(self.temp, ignore_errors=True)


@pytest.fixture(scope="module")
def clusters() -> Iterator[list[Cluster]]:
    base = 20000 + os.getpid() % 200 * 100
    started = [Cluster(i, base + 300 * i) for i in range(3)]
    try:
        time.sleep(12)
        yield started
    finally:
        for one in started:
            one.end()


class Group:
    """The files of all members, parties at the addresses of their clusters."""

    def __init__(self, place: Path, rows: int, table: str = "people.csv") -> None:
        self.table = table
        self.place, base = place, 15000 + os.getpid() % 400 * 12
        cities = ["Bern", "Basel", "Zug"]
        (place / "salaries.csv").write_text("person,salary\n" + "".join(f"{i},{100 + i}\n" for i in range(rows)))
        people = "id,city\n" + "".join(f"{i},{cities[i % 3]}\n" for i in range(rows))
        (place / "job.toml").write_text(
            f'kind = "query"\nshards = 2\nsql = "{SQL}"\nto = ["party0", "client:carol"]\n'
            f'[[tables]]\nname = "salaries"\ncolumns = ["person INTEGER NOT NULL", "salary INTEGER NOT NULL"]\n'
            f'parts = ["client:alice {rows}"]\n'
            f'[[tables]]\nname = "people"\ncolumns = ["id INTEGER NOT NULL", "city VARCHAR(5) NOT NULL"]\nkey = ["id"]\n'
            f'parts = ["party1 {rows}"]\n'
        )
        files = [sys.executable, "-m", "hushwire", "local", "files", "job.toml", "--dir", "r", "--port", str(base)]
        subprocess.run(files, cwd=place, check=True, capture_output=True)
        # This file is not on the node, so it goes through the object store.
        (place / "people.csv").write_text(people)
        if table.endswith(".parquet"):
            polars = pytest.importorskip("polars")
            frame = polars.read_csv(place / "people.csv", schema_overrides={"id": polars.Int32})
            # Both shards have rows of these row groups.
            frame.write_parquet(place / table, row_group_size=max(1, rows // 3))
        (place / "r" / "salaries.csv").write_text((place / "salaries.csv").read_text())
        for file in (place / "r").glob("*.toml"):
            there = file.read_text()
            there = re.sub(r"127\.0\.0\.1:(\d+)", lambda m: f"127.0.0.{2 + (int(m[1]) - base) % 3}:{m[1]}", there)
            file.write_text(there)
        totals = {city: sum(100 + i for i in range(rows) if cities[i % 3] == city) for city in cities}
        self.wanted = [f"{city}{totals[city]}" for city in sorted(cities)]

    def start(self, clusters: list[Cluster], retries: int) -> dict[str, subprocess.Popen[str]]:
        (self.place / "driver.py").write_text(DRIVER)
        started = {}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": self.place}
        for i, cluster in enumerate(clusters):
            hosts = (self.place / "r" / f"party{i}.hosts.toml").read_text()
            places = [re.findall(rf'{key} = "(.*)"', hosts) for key in ("listen", "address")]
            data = str(self.place / self.table) if i == 1 else ""
            files = [str(self.place / "job.toml"), str(self.place / "r" / f"party{i}.toml")]
            words = [sys.executable, "driver.py", cluster.address, *files, data, str(retries), *places[0], *places[1]]
            started[f"party{i}"] = subprocess.Popen(words, **pipes)
        for name in ("alice", "carol"):
            words = [sys.executable, "-m", "hushwire", "client", "job.toml", "--config", f"r/{name}.toml"]
            started[name] = subprocess.Popen([*words, "--retries", str(retries)], **pipes)
        return started

    def check(self, started: dict[str, subprocess.Popen[str]]) -> dict[str, str]:
        told = {}
        for name, process in started.items():
            try:
                out, told[name] = process.communicate(timeout=240)
            finally:
                process.kill()
            assert process.returncode == 0, f"{name}: {told[name]}"
            rows = ["".join(line.split()) for line in out.splitlines()[2:]]
            assert rows == (self.wanted if name in ("party0", "carol") else []), f"{name}: {out}{told[name]}"
        return told


@NEEDS
def test_three_clusters_answer_a_query(clusters: list[Cluster], tmp_path: Path) -> None:
    group = Group(tmp_path, 30)
    told = group.check(group.start(clusters, 0))
    assert "tries 1, shards 2" in told["party0"]


@NEEDS
def test_each_shard_takes_its_rows_of_parquet(clusters: list[Cluster], tmp_path: Path) -> None:
    group = Group(tmp_path, 300, "people.parquet")
    told = group.check(group.start(clusters, 0))
    # The first shard would report that it reads for the others.
    assert "reads all of it" not in told["party1"], told["party1"]


@NEEDS
def test_a_killed_shard_is_a_new_try_of_all(clusters: list[Cluster], tmp_path: Path) -> None:
    group = Group(tmp_path, 3000)
    started = group.start(clusters, 2)
    try:
        victim = shard_of(tmp_path)
        time.sleep(2)
        os.kill(victim, signal.SIGKILL)
        told = group.check(started)
    finally:
        for process in started.values():
            process.kill()
    assert "tries 2" in told["party2"], told["party2"]


def shard_of(place: Path) -> int:
    """The process of the second shard of party 2, once it runs."""
    deadline, victim = time.monotonic() + 60, 0
    while not victim and time.monotonic() < deadline:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            # Only the driver has the file at this path, and no shard.
            if str(place / "r" / "party2.toml") in line and "--shard" in line:
                victim = int(pid) if line[line.index("--shard") + 1] == "1" else victim
        time.sleep(0.1)
    assert victim, "no shard of party 2 has started"
    return victim


def test_hosts_are_nodes_of_a_cluster() -> None:
    hosts = hr.Hosts(["0.0.0.0:7000"] * 2, ["10.0.0.1:7100", "10.0.0.2:7100"])

    class Nodes:
        @staticmethod
        def cluster_resources() -> dict[str, float]:
            return {"CPU": 8, "node:10.0.0.1": 1, "shard-1": 1}

    places = hr._places(Nodes, hosts, 2)
    assert places == [{"CPU": 2, "node:10.0.0.1": 0.001}, {"CPU": 2, "shard-1": 0.001}]


def test_what_a_process_told_is_the_exception() -> None:
    line = (
        '{"level":"ERROR","message":"x","exit_code":3,"code":"HW0145","kind":"network","who":"party 0",'
        '"step":"computing","cause":"shard 1 of this party failed","remedy":"start again"}'
    )
    told = hr._fault(["a note", line], 3)
    assert isinstance(told, hr.NetworkError) and (told.party, told.code) == ("party 0", "HW0145")
    killed = hr._fault([], -9)
    assert isinstance(killed, hr.NetworkError) and "signal 9" in str(killed)


def test_without_a_cluster_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoRay:
        @staticmethod
        def is_initialized() -> bool:
            return False

    monkeypatch.setattr(hr, "_ray", lambda: NoRay)
    with pytest.raises(hr.UsageError, match="no Ray cluster"):
        hr.party("job.toml", "party0.toml", hr.Hosts([], []))
