"""Tests of computations in Python. Those marked `full` run with HUSHWIRE_FULL=yes alone."""

from __future__ import annotations

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: runs with HUSHWIRE_FULL=yes alone")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("HUSHWIRE_FULL") == "yes":
        return
    for item in items:
        if item.get_closest_marker("full") is not None:
            item.add_marker(pytest.mark.skip(reason="runs with HUSHWIRE_FULL=yes"))
