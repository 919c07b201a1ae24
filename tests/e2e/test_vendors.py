"""Real vendors' agents under a real worker, against a scripted model: each through the whole
scenario of tools/vendors.

They are installed where they are missing, and one that cannot be installed fails. Whoever wants
others names them: ROOKERY_VENDORS="claude codex", or "all".
"""

import shutil
import sys
from pathlib import Path

import pytest

from rookery.core.settings.sandbox import BWRAP, LISTED
from tools.vendors.drive import drive
from tools.vendors.perch import Cage
from tools.vendors.roster import VENDORS, chosen
from tools.vendors.vendor import Vendor

LIGHT = ("codex", "vibe", "pi", "gemini")
"""From npm and from PyPI; quick to install and to start."""
CAGED = ("claude", "codex", "gemini", "opencode", "qwen", "rookery")
"""Those whose needs of the user's home are known well enough to run in a sandbox."""
USUAL = [name for name in LIGHT if name in VENDORS]

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1800),  # the first run installs
    pytest.mark.skipif(sys.platform != "linux", reason="the trials find processes in /proc"),
]


@pytest.mark.parametrize("vendor", chosen(usual=USUAL), ids=lambda vendor: vendor.name)
async def test_a_vendors_agent_goes_through_the_whole_scenario(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start, stream, ask, edit, command, MCP, options, cancel, kill -9, resume, switch, look: each
    goes well, or the vendor's own fault is known."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    cells = [cell async for cell in drive(vendor, tmp_path)]
    wrong = [f"{cell.step}: {cell.error}" for cell in cells if cell.error]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
@pytest.mark.parametrize("vendor", chosen(usual=CAGED), ids=lambda vendor: vendor.name)
async def test_a_vendors_agent_goes_through_a_turn_in_a_sandbox(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tool, approval, MCP server, cancel, kill -9 and resume inside of bwrap; what the agent needs
    of the user's home is in its profile, and it sees nothing else of it."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    cells = [cell async for cell in drive(vendor, tmp_path, cage=Cage(BWRAP))]
    wrong = [f"{cell.step}: {cell.error}" for cell in cells if cell.error]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
@pytest.mark.parametrize("vendor", chosen(usual=CAGED), ids=lambda vendor: vendor.name)
async def test_a_sandboxed_vendor_reaches_only_its_model_through_the_proxy(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `network = listed`: by HTTPS, at an address that only the proxy leads to."""
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    steps, cage = frozenset(("stream", "approve", "cancel")), Cage(BWRAP, LISTED)
    cells = [cell async for cell in drive(vendor, tmp_path, steps=steps, cage=cage)]
    wrong = [f"{cell.step}: {cell.error}" for cell in cells if cell.error]
    assert not wrong, "\n\n".join(wrong)
