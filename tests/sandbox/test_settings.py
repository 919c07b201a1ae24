"""P10: nothing that an agent writes to config.toml loosens a sandbox until the user confirms it."""

from pathlib import Path

import pytest

from rookery.core.settings.loosening import Guarded, loosened
from rookery.home import config, confirmed


def said(home: Path, text: str) -> Guarded:
    (home / "config.toml").write_text(text)
    return confirmed.said(str(home), config.load(str(home)))


STRICT = '[sandbox]\nkind = "bwrap"\nnetwork = "off"\n[agents.claude]\nsandbox = "bwrap"\n'


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("kind", "none"), "sandbox.kind changes from bwrap to none"),
        (("network", "on"), "sandbox.network changes from off to on"),
        (("network", "listed"), "sandbox.network changes from off to listed"),
        (("allow", "evil.example.com"), "sandbox.allow is new"),
        (("read", "~/.ssh"), "sandbox.read is new"),
        (("args", "--privileged"), "sandbox.args is new"),
        (("image", "evil"), "sandbox.image is new"),
    ],
)
def test_what_loosens_waits(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    before = said(tmp_path, STRICT)
    key, value = change
    lines = [line for line in STRICT.splitlines() if not line.startswith(f"{key} ")]
    lines.insert(1, f'{key} = "{value}"')
    [sentence] = loosened(before, said(tmp_path, "\n".join(lines) + "\n"))
    assert told in sentence


def test_an_agents_own_sandbox_is_guarded_too(tmp_path: Path) -> None:
    before = said(tmp_path, STRICT)
    [sentence] = loosened(
        before, said(tmp_path, STRICT.replace('sandbox = "bwrap"', 'sandbox = "none"'))
    )
    assert "agents.claude.sandbox changes" in sentence


def test_what_is_stricter_applies_at_once(tmp_path: Path) -> None:
    before = said(tmp_path, '[sandbox]\nnetwork = "listed"\nallow = "a.example.com"\n')
    assert not loosened(before, said(tmp_path, '[sandbox]\nkind = "bwrap"\nnetwork = "off"\n'))


def test_a_record_of_an_earlier_build_knows_no_sandbox(tmp_path: Path) -> None:
    now = said(tmp_path, "")
    old = {key: value for key, value in now.choices.items() if not key.startswith("sandbox.")}
    assert not loosened(now._replace(choices=old), now)
