"""`url` in `[agents.NAME]`: what is refused, and what an agent at an address is given."""

from pathlib import Path
from typing import Any

import pytest

from rookery.agents import registry
from rookery.core.agent.addresses import Remote, Source, address_of
from rookery.core.settings import agent_tables, loosening
from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.loosening import EXTRAS, Guarded
from rookery.core.vendors import profiles
from rookery.home import config


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"url": "ftp://host/acp"}, "url"),
        ({"url": "wss://me:secret@host/acp"}, "url"),
        ({"url": "wss://host/\n"}, "url"),
        ({"url": 7}, "url"),
        ({"url": "wss://host/acp", "command": ["x"]}, "url"),
        ({"url": "wss://host/acp", "headers": {"Authorization": "Bearer in-the-file"}}, "headers"),
        ({"url": "wss://host/acp", "headers": {"A": {"env": "X", "file": "/y"}}}, "headers"),
        ({"url": "wss://host/acp", "headers": {"A": {"value": "x"}}}, "headers"),
        ({"url": "wss://host/acp", "cwd": "relative"}, "cwd"),
        ({"url": "wss://host/acp", "ca": ""}, "ca"),
        ({"url": "wss://host/acp", "offers": ["everything"]}, "offers"),
        ({"command": ["x"], "headers": {}}, "headers"),
        ({"fingerprint": "12"}, "fingerprint"),
    ],
)
def test_mistakes_in_an_agents_address_are_refused(table: dict[str, Any], key: str) -> None:
    fault = agent_tables.fault_of(table)
    assert fault is not None
    assert fault.key == key
    assert "secret" not in fault.why


def test_an_agents_table_may_have_an_address(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[agents.far]\nurl = "wss://host/acp"\nfingerprint = "sha256:00"\n'
        'headers = { Authorization = { env = "TOKEN" }, X-Key = { file = "~/key" } }\n'
        'cwd = "/srv"\noffers = ["files"]\n'
    )
    found = config.load(str(tmp_path))
    assert found.agents == {"far": ["wss://host/acp"]}
    remote = found.extras["far"].remote
    assert remote.headers == {"Authorization": Source("TOKEN"), "X-Key": Source("", "~/key")}
    assert (remote.cwd, remote.offers) == ("/srv", ("files",))
    assert agent_tables.extras_from(found.extras["far"].plain()) == found.extras["far"]


def test_earlier_confirmations_still_hold() -> None:
    """The record of an agent with a command does not change with the new keys."""
    assert Extras({"A": "b"}, True).plain() == {"env": {"A": "b"}, "mcp": True}


def test_a_changed_header_waits_for_the_user() -> None:
    key = f"agents.far{EXTRAS}"
    before = Extras(remote=Remote({"Authorization": Source("TOKEN")})).plain()
    after = Extras(remote=Remote({"Authorization": Source("", "/home/me/.ssh/id")})).plain()
    said = loosening.loosened(Guarded(programs={key: before}), Guarded(programs={key: after}))
    assert said == ["agents.far.headers changes."]


def test_an_address_is_not_a_program() -> None:
    agent = registry.resolve("far", {"far": ["wss://host/acp"]})
    assert address_of(agent.argv) == "wss://host/acp"
    assert registry.is_installed(agent, {}, "/")
    assert registry.from_command("wss://host:1/acp").name == "host:1"
    assert address_of(["wss://host/acp", "more"]) == ""


def test_an_agent_at_an_address_gets_only_what_is_offered() -> None:
    claude = profiles.profile_of("far", ["wss://host/acp"], {"name": "claude-agent-acp"})
    alone = profiles.at_address(claude, ())
    assert not alone.files
    assert not alone.takes_servers
    assert alone.clear == claude.clear
    offered = profiles.offers_of(profiles.at_address(claude, ("files",)))
    assert offered["fs"]["readTextFile"]
    assert not offered["terminal"]
