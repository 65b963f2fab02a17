"""The notebooks run from top to bottom, each within a minute: one in the short test, all with
HUSHWIRE_FULL=yes. Their assertions compare results with plain code."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("numpy")

PLACE = Path(__file__).parents[4] / "examples" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in PLACE.glob("*.ipynb"))


def test_there_are_three_notebooks_without_outputs() -> None:
    assert NOTEBOOKS == ["bank-model", "hospitals", "salaries"]
    for name in NOTEBOOKS:
        book = nbformat.read(PLACE / f"{name}.ipynb", as_version=4)
        assert all(not cell.outputs for cell in book.cells if cell.cell_type == "code")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "salaries" else pytest.mark.full) for n in NOTEBOOKS]
)
def test_a_notebook_runs(name: str) -> None:
    book = nbformat.read(PLACE / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    pictures = [out for out in shown if "text/html" in out.get("data", {})]
    assert pictures, "a notebook shows a picture or a table at least"
