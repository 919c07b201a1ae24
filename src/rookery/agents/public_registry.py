"""The public registry of ACP agents, as a file: which of its agents can be run from here, and how.

{"version": "1.0.0", "agents": [{"id", "name", "version", "distribution": {
    "npx" | "uvx": {"package", "args", "env"},
    "binary": {"linux-x86_64": {"archive", "cmd", "args", "env"}}}}]}
"""

import re
from typing import NamedTuple

from rookery.agents.install import recipe
from rookery.agents.registry import AGENTS
from rookery.core.json import Json, lenient
from rookery.core.json.files import Unusable, parse
from rookery.core.settings.agent_tables import fault_of

LARGEST = 16 * 1024 * 1024
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w.-]+(?:\[[\w,.-]+\])?(?:(?:@|==)[\w.+-]+)?", re.ASCII)
RUNNERS = {"npx": ["npx", "-y"], "uvx": ["uvx"]}


class Offer(NamedTuple):
    """What becomes of an agent of the file."""

    name: str
    title: str
    table: Json
    """For [agents.NAME]; empty: it cannot be run from here."""
    why: str = ""
    """Why not."""


def read(data: bytes, place: str) -> list[Offer]:
    """Raises Unusable."""
    if len(data) > LARGEST:
        raise Unusable(
            f"{place} is larger than {LARGEST // 1024**2} MiB: not a registry of agents."
        )
    found = parse(data, place)
    agents = list(lenient.mappings(found, "agents"))
    if not agents:
        wanted = '{"agents": [{"id": …, "distribution": …}]}'
        raise Unusable(f"{place} is not a registry of ACP agents: it must be {wanted}.")
    offers = [_offer(each) for each in agents]
    return list({each.name: each for each in reversed(offers)}.values())[::-1]


def _offer(agent: Json) -> Offer:
    name, title = lenient.text(agent, "id"), lenient.text(agent, "name")
    offer = Offer(name, title or name, {})
    if not NAME.fullmatch(name):
        return offer._replace(why="its id is not a name: lower-case letters, digits, - and _")
    ways = lenient.mapping(agent, "distribution")
    for way, runner in RUNNERS.items():
        if not (given := lenient.mapping(ways, way)):
            continue
        package = lenient.text(given, "package")
        if known := _built_in(package):
            return offer._replace(why=f"Rookery has it: rookery agents install {known}")
        if not PACKAGE.fullmatch(package):
            return offer._replace(why=f"{package[:80]!r} is not a package")
        table: Json = {"command": [*runner, package, *lenient.texts(given, "args")]}
        if env := lenient.mapping(given, "env"):
            table["env"] = env
        if (fault := fault_of(table)) is not None:
            return offer._replace(why=f"its {fault.key} {fault.why}")
        return offer._replace(table=table)
    archives = {lenient.text(each, "archive") for each in _targets(ways)} - {""}
    if archives:
        return offer._replace(why=f"install it yourself: {_page(agent) or min(archives)}")
    return offer._replace(why="it is no npm or PyPI package, and no program")


def _targets(ways: Json) -> list[Json]:
    binary = lenient.mapping(ways, "binary")
    return [each for each in binary.values() if isinstance(each, dict)]


def _page(agent: Json) -> str:
    return lenient.text(agent, "repository") or lenient.text(agent, "website")


def _built_in(package: str) -> str:
    """The agent of ours that is this package, whatever the version."""
    bare = re.sub(r"(?<=.)(?:@|==)[^/@=]+$", "", package)
    for name, entry in AGENTS.items():
        known = recipe(entry)
        if known is not None and bare in known.packages:
            return name
    return ""
