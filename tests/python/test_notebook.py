"""The tutorial notebook runs from its first cell to its last, and is kept without outputs."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "user" / "tutorial.ipynb"


@pytest.fixture(scope="module")
def notebook():
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_is_kept_without_outputs(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells and all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    assert NOTEBOOK.stat().st_size < 20_000


@pytest.mark.timeout(300)
def test_it_runs_and_says_what_its_text_says(notebook, tmp_path):
    client = pytest.importorskip("nbclient")
    for needed in ("ipykernel", "matplotlib", "pandas", "trackpy"):
        pytest.importorskip(needed)
    done = client.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": tmp_path}}).execute()
    printed = [o.text for c in done.cells for o in c.get("outputs", []) if o.get("name") == "stdout"]
    [diffusion] = [line for line in printed if line.startswith("D =")]
    assert 0.008 < float(diffusion.split()[2]) < 0.012
    [scores] = [
        o.data["text/plain"] for c in done.cells for o in c.get("outputs", []) if "'recall'" in str(o.get("data"))
    ]
    assert min(eval(scores).values()) > 0.95
    assert (tmp_path / "tracks.h5").exists() and (tmp_path / "tracks.xml").exists()
