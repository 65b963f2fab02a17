"""Runs the blocks of Python on pages unchanged, except those that need other machines."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ["docs/python.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_pages_run(page: str) -> None:
    names: dict[str, object] = {}
    for words, block in BLOCK.findall((ROOT / page).read_text()):
        if "elsewhere" in words:
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, page, "exec"), names)
        assert "Traceback" not in out.getvalue()


def test_every_public_name_is_documented() -> None:
    import hushwire as hw

    pages = "".join(page.read_text() for page in ROOT.glob("docs/*.md"))
    for name in hw.__all__:
        found = getattr(hw, name)
        if callable(found):
            assert (found.__doc__ or "").strip(), name
        if callable(found) and name[0].islower():
            assert f"hw.{name}" in pages, f"no page names hw.{name}"
