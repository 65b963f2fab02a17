"""Fixtures for all tests of the package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import hushwire as hw

FULL = os.environ.get("HUSHWIRE_FULL") == "yes"

settings.register_profile(
    "tests",
    max_examples=200 if FULL else 12,
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("tests")


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether tests that take minutes run, too."""
    return FULL


@pytest.fixture(scope="module")
def three() -> Iterator[hw.Session]:
    """A session of three parties."""
    with hw.local(parties=3) as session:
        yield session


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: runs with HUSHWIRE_FULL=yes alone")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not FULL and item.get_closest_marker("full") is not None:
            item.add_marker(pytest.mark.skip(reason="runs with HUSHWIRE_FULL=yes"))


@pytest.fixture(scope="session")
def identities(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A directory with the keys of three parties, and their pins."""
    place = tmp_path_factory.mktemp("keys")
    command, pins = [sys.executable, "-m", "hushwire"], []
    for index in range(3):
        subprocess.run(
            [*command, "keys", "init", "--name", f"party{index}"], cwd=place, check=True, capture_output=True
        )
        done = subprocess.run(
            [*command, "keys", "pin", f"party{index}.pem"], cwd=place, check=True, capture_output=True, text=True
        )
        pins.append(next(word for word in done.stdout.split() if word.startswith("sha256:")))
    return place, pins


@pytest.fixture
def place(tmp_path: Path, identities: tuple[Path, list[str]]) -> Path:
    """A directory with the files of three parties, whose ports are free."""
    keys, pins = identities
    ports = []
    for index in range(3):
        shutil.copy(keys / f"party{index}.pem", tmp_path)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    for index in range(3):
        text = f'index = {index}\nlisten = "127.0.0.1:{ports[index]}"\nkey = "party{index}.pem"\n'
        for other in range(3):
            if other != index:
                text += f'[[peers]]\nindex = {other}\naddress = "127.0.0.1:{ports[other]}"\npin = "{pins[other]}"\n'
        (tmp_path / f"party{index}.toml").write_text(text)
    return tmp_path


#: Runs a program in three processes, each with its party's number and its own arguments, and returns
#: the lines that each prints.
Parties = Callable[..., list[list[str]]]


@pytest.fixture
def parties(place: Path) -> Parties:
    def run(program: str, *words: list[str]) -> list[list[str]]:
        (place / "party.py").write_text(program)
        children = [
            subprocess.Popen(
                [sys.executable, "party.py", str(index), *(words[index] if words else [])],
                cwd=place,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for index in range(3)
        ]
        try:
            return [child.communicate(timeout=120)[0].splitlines() for child in children]
        finally:
            for child in children:
                child.kill()

    return run
