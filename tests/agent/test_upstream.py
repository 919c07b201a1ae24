"""The faults that docs/upstream describes: each case runs against the plain packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {page.stem: page for page in (ROOT / "docs" / "upstream").glob("*.md")}
INDEX = PAGES.pop("README")
CASE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_page_is_in_the_index_and_has_a_case() -> None:
    assert {*re.findall(r"\((\S+)\.md\)", INDEX.read_text())} == PAGES.keys()
    for page in PAGES.values():
        text = page.read_text()
        [case] = CASE.findall(text)
        compile(case, str(page), "exec")
        assert "**Fix.**" in text
        [patch] = re.findall(r"`(src/rookery/agent/sdk_patches/\S+)`", text)
        assert (ROOT / patch).exists()


@pytest.mark.long  # what is pinned does not change by itself
@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_fault_is_still_there(name: str, tmp_path: Path) -> None:
    [case] = CASE.findall(PAGES[name].read_text())
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", case],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "still there" in ran.stdout, f"upstream has corrected it? {ran.stderr[-3000:]}"
