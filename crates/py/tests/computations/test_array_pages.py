"""Runs the programs on pages about computations in Python, and checks that generated pages are current."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")

ROOT = Path(__file__).parents[4]


def blocks(page: str) -> list[tuple[str, str]]:
    """The fences of a page: their word, and their text."""
    text = (ROOT / page).read_text()
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def fits(shown: str, found: str) -> bool:
    """Whether a text matches the one on the page, in which `…` is any text."""
    pattern = ".*".join(re.escape(part) for part in shown.rstrip().split("…"))
    return re.fullmatch(pattern, found.rstrip(), re.DOTALL) is not None


@pytest.mark.parametrize("page", ["docs/guide/arrays-in-python.md"])
def test_programs_of_pages_print_what_they_show(page: str, tmp_path: Path) -> None:
    namespace: dict[str, object] = {"__name__": "page"}
    told, compared = "", 0
    for number, (word, text) in enumerate(blocks(page)):
        if word == "python":
            # Each program is a separate file, because names of local variables come from the
            # functions of a file.
            path = tmp_path / f"block{number}.py"
            path.write_text(text)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(path), "exec"), namespace)  # noqa: S102
            told = out.getvalue()
        elif word == "text":
            assert fits(text, told), f"{page} shows:\n{text}\nthe program prints:\n{told}"
            compared += 1
    assert compared >= 5


def test_reference_and_pictures_are_those_of_the_package() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "scripts/python-pages"), "--check"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
