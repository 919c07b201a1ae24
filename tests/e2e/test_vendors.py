"""Real vendors' agents under a real worker, against a scripted model: each through the whole
scenario of tools/vendors.

They are installed where they are missing, and one that cannot be installed fails. Whoever wants
others names them: ROOKERY_VENDORS="claude codex", or "all".
"""

import sys
from pathlib import Path

import pytest

from tools.vendors.drive import drive
from tools.vendors.roster import VENDORS, chosen
from tools.vendors.vendor import Vendor

LIGHT = ("codex", "vibe", "pi", "gemini")
"""From npm and from PyPI; quick to install and to start."""
USUAL = [name for name in LIGHT if name in VENDORS]

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1800),  # the first run installs
    pytest.mark.skipif(sys.platform != "linux", reason="the trials find processes in /proc"),
]


@pytest.mark.parametrize("vendor", chosen(usual=USUAL), ids=lambda vendor: vendor.name)
async def test_I11_vendors_the_whole_scenario(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start, stream, ask, edit, command, MCP, options, cancel, kill -9, resume, switch, look: each
    goes well, or the vendor's own fault is known."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    cells = [cell async for cell in drive(vendor, tmp_path)]
    wrong = [f"{cell.step}: {cell.error}" for cell in cells if cell.error]
    assert not wrong, "\n\n".join(wrong)
