"""Agents at addresses: whether each answers, and as what."""

import asyncio
import os
from collections.abc import Mapping
from typing import NamedTuple

from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, Card
from rookery.cli.checkup.opening import params
from rookery.client.config.agent_address import link_to, target_of
from rookery.core.agent.addresses import address_of
from rookery.core.json import Json, lenient
from rookery.core.settings.agent_tables import Extras
from rookery.home.config import Config
from rookery.wire.failures import RpcFailure
from rookery.wire.jsonrpc import Peer
from rookery.wire.websocket.client import ConnectError, Target, shown

WITHIN = 5.0
"""Seconds for an agent to answer `initialize`."""


class Said(NamedTuple):
    answer: Json
    """To `initialize`."""
    fault: str = ""
    """Why there is none."""


def ask_all(settings: Config, environment: Mapping[str, str] = os.environ) -> dict[str, Said]:
    """Each agent that has an address, all at once; by name."""
    found = {name: address_of(argv) for name, argv in settings.agents.items()}
    asked = {name: url for name, url in found.items() if url}
    if not asked:
        return {}

    async def work() -> list[Said]:
        return await asyncio.gather(
            *(_ask_named(settings, name, url, environment) for name, url in asked.items())
        )

    return dict(zip(asked, asyncio.run(work()), strict=True))


async def _ask_named(
    settings: Config, name: str, url: str, environment: Mapping[str, str], within: float = WITHIN
) -> Said:
    try:
        remote = settings.extras.get(name, Extras()).remote
        return await ask(target_of(url, remote, environment), within)
    except ConnectError as error:
        return Said({}, str(error))


async def ask(target: Target, within: float = WITHIN) -> Said:
    """Nothing is begun over there but a connection."""
    link = link_to(target.url, lambda: target)
    peer = Peer().carried_by(link)
    try:
        async with asyncio.timeout(within):
            await link.open()
            answer = await peer.request("initialize", params())
    except ConnectError as error:
        return Said({}, str(error))
    except TimeoutError:
        return Said({}, f"{shown(target.url)} did not answer `initialize` in time.")
    except RpcFailure as error:
        return Said({}, f"{shown(target.url)} does not speak ACP: {error}.")
    finally:
        peer.close()
        await asyncio.sleep(0)
    return Said(answer if isinstance(answer, dict) else {})


def examine(card: Card, settings: Config, timeout: float | None) -> None:
    """The report on an agent at an address: nothing is started or left there."""
    work = _ask_named(settings, card.name, card.argv[0], os.environ, timeout or WITHIN)
    said = asyncio.run(work)
    if said.fault:
        card.say("initialize", NOT_OK, said.fault)
        return
    card.usable = True
    card.facts |= {
        "agentInfo": lenient.mapping(said.answer, "agentInfo"),
        "protocolVersion": said.answer.get("protocolVersion"),
        "capabilities": lenient.mapping(said.answer, "agentCapabilities"),
    }
    card.say("initialize", OK, "it can be reached and answers `initialize`")
    loads = lenient.flag(card.facts["capabilities"], "loadSession")
    kept = "sessions can be loaded after a break"
    card.judge(
        "session/load", loads, kept, "sessions cannot be loaded: a break loses the conversation"
    )
    card.say("session/new", NOT_TOLD, "nothing else is tested over a network")
