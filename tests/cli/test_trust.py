"""A home that others may write, and settings that another user wrote, are not used."""

import os
import stat
from pathlib import Path

import pytest

from rookery.client.config import in_force
from rookery.home import config, paths
from rookery.models import documents, hook_files
from tests.cli.driving import rookery

STRANGER = 4242


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777])
def test_a_home_writable_by_others_is_refused(home: Path, mode: int) -> None:
    home.chmod(mode)
    for command in (("ps",), ("new", "--agent", "demo"), ("run", "--agent", "demo", "hello")):
        refused = rookery(*command)
        assert refused.code == 1
        assert "Other users may write to" in refused.err
        assert f"chmod go-w {home}" in refused.err
    assert not (home / "sessions").exists()
    checked = rookery("doctor")
    assert checked.code == 1
    assert "Other users may write to" in checked.out
    home.chmod(mode & ~0o022)
    assert rookery("ps").code == 0


def test_sessions_writable_by_others_are_refused(home: Path) -> None:
    rookery("new", "--agent", "demo")
    Path(paths.sessions(str(home))).chmod(0o777)
    refused = rookery("ps")
    assert (refused.code, "Other users may write to" in refused.err) == (1, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_home_or_settings_of_another_user_are_refused(home: Path) -> None:
    file = home / "config.toml"
    file.write_text("[session]\napprove_all = true\n")
    os.chown(file, STRANGER, -1)
    refused = rookery("run", "--agent", "demo", "hello")
    assert refused.code == 1
    assert f"belongs to another user (uid {STRANGER}), so it is not used" in refused.err
    assert "config.toml belongs to another user" in rookery("doctor").out
    os.chown(file, os.geteuid(), -1)
    os.chown(home, STRANGER, -1)
    refused = rookery("ps")
    assert (refused.code, "belongs to another user" in refused.err) == (1, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_mcp_servers_and_hooks_of_another_user_are_not_used(home: Path) -> None:
    """As config.toml: neither at once nor after they had been confirmed, and everybody says so."""
    (home / "mcp.json").write_text('{"mcpServers": {"tracker": {"command": "true"}}}')
    (home / "hooks.json").write_text('{"stop": [{"hooks": [{"command": "true"}]}]}')
    assert in_force.settings(str(home)).guarded.servers
    assert hook_files.own(str(home))
    for name in ("mcp.json", "hooks.json"):
        os.chown(home / name, STRANGER, -1)
    found = in_force.settings(str(home)).guarded
    assert (found.servers, found.hooks) == ({}, {})
    with pytest.raises(documents.SettingsError, match=r"hooks\.json belongs to another user"):
        hook_files.own(str(home))
    refused = rookery("mcp", "list")
    assert (refused.code, "mcp.json belongs to another user" in refused.err) == (1, True)
    checked = rookery("doctor")
    assert checked.code == 1
    for name in ("mcp.json", "hooks.json"):
        assert f"{name} belongs to another user (uid {STRANGER})" in checked.out


@pytest.mark.parametrize(("around", "refused"), [(0o700, False), (0o711, True), (0o755, True)])
def test_settings_writable_by_others_are_not_used(home: Path, around: int, refused: bool) -> None:
    file = home / "config.toml"
    file.write_text("[worker]\nqueue_most = 7\n")
    file.chmod(0o666)
    home.chmod(around)
    if refused:
        with pytest.raises(config.ConfigError, match="can be changed by other users"):
            config.load(str(home))
    else:
        assert config.load(str(home)).policy.queue_most == 7
    assert stat.S_IMODE(file.stat().st_mode) == 0o666
