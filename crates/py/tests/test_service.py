"""The service's client, against three parties of the service on this machine."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hushwire as hw

ROOT = Path(__file__).resolve().parents[3]


def test_a_file_of_the_service_is_read(tmp_path: Path) -> None:
    with pytest.raises(hw.FileError, match="absent.toml"):
        hw.Service(tmp_path / "absent.toml")
    path = tmp_path / "service.toml"
    path.write_text("group = 1\n")
    with pytest.raises(hw.PartyError):
        hw.Service(path)


def program() -> str | None:
    """The service's program, if the workspace has built it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = target / "debug" / "hushwire-service"
    return str(built) if built.exists() else shutil.which("hushwire-service")


@pytest.fixture
def group(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Three parties on this machine, with the sample's data set and approved query."""
    service = program()
    if service is None:
        pytest.skip("hushwire-service is not built")
    command = [service, "local-up", "--parties", "3", "--dir", str(tmp_path), "--json"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield json.loads(child.stdout.readline())
    finally:
        child.send_signal(signal.SIGINT)
        child.wait(30)


def test_a_job_from_submission_to_result(group: dict[str, Any]) -> None:
    place, sample = Path(group["dir"]), group["sample"]
    service = hw.Service(place / "analyst.toml", keys=place / "anna.keys")
    assert "anna" not in repr(service) and service.group == "demo"
    arguments: dict[str, Any] = {
        "proposal": sample["proposal"],
        "data": {"stays": sample["data"]},
        "recipients": {"anna": place / "anna.keys"},
    }
    job = service.submit(**arguments, key="one")
    assert service.submit(**arguments, key="one").id == job.id
    heard: list[hw.Progress] = []
    ended = job.wait(limit=120, progress=heard.append)
    assert ended["state"] in ("committed", "delivered") and heard
    result = job.result()
    rows = result.rows()
    assert rows and result.output == "anna"
    assert result.pl().height == len(result.df()) == len(rows)
    assert list(result.pl().columns) == list(rows[0])
    with pytest.raises(hw.PartyError):
        service.job("0" * 64).wait(limit=1)

    owner = hw.Service(place / "owner.toml", keys=place / "owner.keys")
    frame = {"id": [1, 2, 3], "day": [datetime.date(2026, 1, 1), None, datetime.date(2026, 1, 3)], "note": ["a,b", 'c"d', ""]}
    made = owner.put(frame, "mine", key="id")
    known = {data["id"]: data for data in owner.datasets()}
    assert known[made]["name"] == "mine" and known[made]["rows"] == 3
