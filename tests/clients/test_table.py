"""The table of clients: every cell is a test, or says why the client itself cannot."""

from pathlib import Path

import pytest

from tests.acp import packages
from tests.clients import test_acpx, test_neovim, test_openhands, test_toad
from tests.clients.behaviours import BEHAVIOURS, CANNOT, NAMES, SEEN, cells, table

DOCS = Path(__file__).parents[2] / "docs" / "editors.md"


def test_the_docs_have_this_table_of_clients() -> None:
    assert table() in DOCS.read_text()
    assert CANNOT.keys() == NAMES.keys()
    for package in (packages.SDK, packages.ACPX, packages.TOAD, packages.PYTHON_SDK):
        version = package.rpartition("@")[2].rpartition("=")[2]
        assert any(name.endswith(f" {version}") for name in NAMES.values()), package


@pytest.mark.parametrize(
    ("client", "tests"),
    [
        ("python_sdk", SEEN),
        ("typescript_sdk", SEEN),
        ("acpx", test_acpx.CELLS),
        ("toad", test_toad.CELLS),
        ("openhands", test_openhands.SEEN),
        ("emacs", SEEN),
        ("neovim", test_neovim.SEEN),
    ],
)
def test_each_cell_is_a_test_or_a_reason(client: str, tests: dict[str, object]) -> None:
    assert sorted(tests) == sorted(cells(client))
    assert CANNOT[client].keys() <= BEHAVIOURS.keys()
