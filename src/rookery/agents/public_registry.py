"""Reads the public registry of ACP agents from a file: which of its agents can run here, and how.

{"version": "1.0.0", "agents": [{"id", "name", "version", "distribution": {
    "npx" | "uvx": {"package", "args", "env"},
    "binary": {"linux-x86_64": {"archive", "cmd", "args", "env", "sha256"}}}}]}"""

import re
from typing import NamedTuple

from rookery.agents.downloads import Download, link_of, this_platform
from rookery.agents.downloads import fault_of as fault_of_download
from rookery.agents.install import can_install, recipe
from rookery.agents.registry import AGENTS
from rookery.core.json import Json, lenient
from rookery.core.json.files import Unusable, parse
from rookery.core.settings.agent_tables import fault_of

LARGEST = 16 * 1024 * 1024
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w.-]+(?:\[[\w,.-]+\])?(?:(?:@|==)[\w.+-]+)?", re.ASCII)
RUNNERS = {"npx": ["npx", "-y"], "uvx": ["uvx"]}


IDS = {
    "claude-acp": "claude",
    "claude-code-acp": "claude",
    "codex-acp": "codex",
    "crow-cli": "crow",
    "gemini-cli": "gemini",
    "github-copilot": "copilot",
    "github-copilot-cli": "copilot",
    "hermes-agent": "hermes",
    "kimi-cli": "kimi",
    "mistral-vibe": "vibe",
    "pi-acp": "pi",
    "qwen-code": "qwen",
}
"""Agents of ours by other names: ids of the registry (of today, and earlier ones: claude-code-acp,
github-copilot), and names of packages, by which others may list them (crow-cli, gemini-cli,
kimi-cli). Compared with the registry's folders of August 2026."""


class Offer(NamedTuple):
    """An agent of the registry, and how it can be run here."""

    name: str
    title: str
    table: Json
    """For [agents.NAME]; empty: it cannot be run from here, or is built in."""
    why: str = ""
    """Why not."""
    download: Download | None = None
    """Its program for this platform, which `rookery agents install` installs."""


def read(data: bytes, place: str) -> list[Offer]:
    """Parse the registry into offers. Raises Unusable."""
    if len(data) > LARGEST:
        raise Unusable(
            f"{place} is larger than {LARGEST // 1024**2} MiB: not a registry of agents."
        )
    document = parse(data, place)
    agents = list(lenient.mappings(document, "agents"))
    if not agents:
        shape = '{"agents": [{"id": …, "distribution": …}]}'
        raise Unusable(f"{place} is not a registry of ACP agents: it must be {shape}.")
    offers = [_offer(each) for each in agents]
    return list({each.name: each for each in reversed(offers)}.values())[::-1]


def _offer(agent: Json) -> Offer:
    name, title = lenient.text(agent, "id"), lenient.text(agent, "name")
    offer = Offer(name, title or name, {})
    if not NAME.fullmatch(name):
        return offer._replace(why="its id is not a name: lower-case letters, digits, - and _")
    known = IDS.get(name, name if name in AGENTS else "")
    if known and can_install(known):
        return offer._replace(why=f"Rookery has it: rookery agents install {known}")
    ways = lenient.mapping(agent, "distribution")
    for way, runner in RUNNERS.items():
        if known or not (given := lenient.mapping(ways, way)):
            continue
        package = lenient.text(given, "package")
        if same := _built_in(package):
            return offer._replace(why=f"Rookery has it: rookery agents install {same}")
        if not PACKAGE.fullmatch(package):
            return offer._replace(why=f"{package[:80]!r} is not a package")
        return _tabled(offer, [*runner, package], given)
    return _program(offer._replace(name=known or name), agent, ways)


def _tabled(offer: Offer, command: list[str], given: Json) -> Offer:
    table: Json = {"command": [*command, *lenient.texts(given, "args")]}
    if env := lenient.mapping(given, "env"):
        table["env"] = env
    if (fault := fault_of(table)) is not None:
        return offer._replace(why=f"its {fault.key} {fault.why}")
    return offer._replace(table=table)


def _program(offer: Offer, agent: Json, ways: Json) -> Offer:
    """The offer of an agent that is downloaded. A built-in agent needs no table."""
    binary, here = lenient.mapping(ways, "binary"), this_platform()
    if not binary:
        return offer._replace(why="it is no npm or PyPI package, and no program")
    if not (given := lenient.mapping(binary, here)):
        there = ", ".join(sorted(binary))
        return offer._replace(why=f"it has no program for {here}, only for {there}")
    archive, program = (lenient.text(given, key) for key in ("archive", "cmd"))
    checksum = lenient.text(given, "sha256").removeprefix("sha256:")
    download = Download(lenient.text(agent, "version"), archive, program, checksum)
    if why := fault_of_download(download):
        return offer._replace(why=why)
    offer = offer._replace(download=download)
    return offer if offer.name in AGENTS else _tabled(offer, [link_of(offer.name)], given)


def _built_in(package: str) -> str:
    """The built-in agent that is this package, whatever its version."""
    bare = re.sub(r"(?<=.)(?:@|==)[^/@=]+$", "", package)
    for name, entry in AGENTS.items():
        known = recipe(entry)
        if known is not None and bare in known.packages:
            return name
    return ""
