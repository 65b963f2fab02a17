"""What all tests of the package share."""

from __future__ import annotations

import os
from collections.abc import Iterator

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
    """Whether what takes minutes runs, too."""
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
