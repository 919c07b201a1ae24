"""Probing agents at addresses: whether each answers `initialize`, and what it says about itself."""

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


class ProbeResult(NamedTuple):
    answer: Json
    """To `initialize`."""
    fault: str = ""
    """Why there is none."""


def ask_all(
    settings: Config, environment: Mapping[str, str] = os.environ
) -> dict[str, ProbeResult]:
    """Probe every agent that has an address, all at once; return the results by name."""
    urls = {name: address_of(argv) for name, argv in settings.agents.items()}
    asked = {name: url for name, url in urls.items() if url}
    if not asked:
        return {}

    async def work() -> list[ProbeResult]:
        return await asyncio.gather(
            *(_ask_named(settings, name, url, environment) for name, url in asked.items())
        )

    return dict(zip(asked, asyncio.run(work()), strict=True))


async def _ask_named(
    settings: Config, name: str, url: str, environment: Mapping[str, str], within: float = WITHIN
) -> ProbeResult:
    try:
        remote = settings.extras.get(name, Extras()).remote
        return await ask(target_of(url, remote, environment), within)
    except ConnectError as error:
        return ProbeResult({}, str(error))


async def ask(target: Target, within: float = WITHIN) -> ProbeResult:
    """Send `initialize` to an address and return the answer, or why there is none. Nothing is
    started over there but a connection."""
    link = link_to(target.url, lambda: target)
    peer = Peer().carried_by(link)
    try:
        async with asyncio.timeout(within):
            await link.open()
            answer = await peer.request("initialize", params())
    except ConnectError as error:
        return ProbeResult({}, str(error))
    except TimeoutError:
        return ProbeResult({}, f"{shown(target.url)} did not answer `initialize` in time.")
    except RpcFailure as error:
        return ProbeResult({}, f"{shown(target.url)} does not speak ACP: {error}.")
    finally:
        peer.close()
        await asyncio.sleep(0)
    return ProbeResult(answer if isinstance(answer, dict) else {})


def examine(card: Card, settings: Config, timeout: float | None) -> None:
    """Fill the report card of an agent at an address: nothing is started or left there."""
    work = _ask_named(settings, card.name, card.argv[0], os.environ, timeout or WITHIN)
    probe = asyncio.run(work)
    if probe.fault:
        card.say("initialize", NOT_OK, probe.fault)
        return
    card.usable = True
    card.facts |= {
        "agentInfo": lenient.mapping(probe.answer, "agentInfo"),
        "protocolVersion": probe.answer.get("protocolVersion"),
        "capabilities": lenient.mapping(probe.answer, "agentCapabilities"),
    }
    card.say("initialize", OK, "it can be reached and answers `initialize`")
    loads = lenient.flag(card.facts["capabilities"], "loadSession")
    kept = "sessions can be loaded after a break"
    card.judge(
        "session/load", loads, kept, "sessions cannot be loaded: a break loses the conversation"
    )
    card.say("session/new", NOT_TOLD, "nothing else is tested over a network")
