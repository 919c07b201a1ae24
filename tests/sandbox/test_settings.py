"""Nothing that an agent writes to config.toml loosens a sandbox until the user confirms it."""

import json
import sys
from pathlib import Path

import pytest

from rookery.cli.checkup.card import Row
from rookery.cli.checkup.home import check
from rookery.core.settings.loosening import Guarded, loosened
from rookery.home import config, confirmed


def said(home: Path, text: str) -> Guarded:
    (home / "config.toml").write_text(text)
    return confirmed.guarded_settings(str(home), config.load(str(home)))


STRICT = '[sandbox]\nkind = "bwrap"\nnetwork = "off"\n[agents.claude]\nsandbox = "bwrap"\n'


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("kind", "none"), "sandbox.kind changes from bwrap to none"),
        (("network", "on"), "sandbox.network changes from off to on"),
        (("network", "listed"), "sandbox.network changes from off to listed"),
        (("allow", "evil.example.com"), "sandbox.allow is new"),
        (("read", "~/.ssh"), "sandbox.read is new"),
        (("git_hooks", True), "sandbox.git_hooks changes from false to true"),
        (("args", "--privileged"), "sandbox.args is new"),
        (("image", "evil"), "sandbox.image is new"),
    ],
)
def test_what_loosens_waits(tmp_path: Path, change: tuple[str, str | bool], told: str) -> None:
    before = said(tmp_path, STRICT)
    key, value = change
    lines = [line for line in STRICT.splitlines() if not line.startswith(f"{key} ")]
    lines.insert(1, f"{key} = {json.dumps(value)}")
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


def doctor(home: Path, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """What it says of sandboxes, where these programs are all there is."""
    places = home / "programs"
    places.mkdir()
    for name, lines in programs.items():
        (places / name).write_text(f"#!/bin/sh\n{lines}\n")
        (places / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(places))
    return [row for row in check(str(home)) if row.row == "sandbox"]


REFUSED = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are containers alone")
@pytest.mark.parametrize(
    ("kind", "programs", "told"),
    [
        ("none", {}, ["not told: needs bubblewrap, which is not installed. To install it: sudo"]),
        ("bwrap", {}, ["not ok: needs bubblewrap, which is not installed. To install it: sudo"]),
        ("none", {"bwrap": REFUSED}, ["not told: (setting up uid map: Permission denied)"]),
        ("bwrap", {"bwrap": "echo bubblewrap 1.2"}, ["ok: bwrap: bubblewrap 1.2 works"]),
        ("none", {"podman": "echo podman version 4"}, ["ok: container: podman version 4 found"]),
        (
            "bwrap",
            {"docker": "echo Docker version 20"},
            ["ok: container: Docker version 20 found", "not ok: needs bubblewrap"],
        ),
    ],
)
def test_the_doctor_says_what_there_is_and_what_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    programs: dict[str, str],
    told: list[str],
) -> None:
    (tmp_path / "config.toml").write_text(f'[sandbox]\nkind = "{kind}"\n')
    rows = doctor(tmp_path, programs, monkeypatch)
    assert len(rows) == len(told)
    for row, words in zip(rows, told, strict=True):
        verdict, _, said = words.partition(": ")
        assert row.verdict == verdict
        assert said in row.words


def test_an_unknown_key_is_refused_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[sandbox]\nkind = "bwrap"\nseccomp = "strict"\n')
    with pytest.raises(config.ConfigError, match=r"line 3: sandbox.seccomp is not a setting"):
        config.load(str(tmp_path))
