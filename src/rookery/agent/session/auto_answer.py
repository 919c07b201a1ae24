"""Judges an action before it runs: by the client if it offers that, else here, by the home's rules,
what cannot be undone, and the session's mode. The model's own view of the risk can only add to it.
Without a judgement nothing runs."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from openhands.sdk.event import ActionEvent
from openhands.sdk.mcp.definition import MCPToolAction

from rookery.agent.session.client_updates import ClientUpdates
from rookery.client.config import in_force
from rookery.core.asks.asks import Judgement
from rookery.core.json import Json
from rookery.core.policy import danger, modes
from rookery.core.policy.auto_answer import METHOD, UNREACHED, judge, judgements_in
from rookery.core.vendors.profiles import profile_of
from rookery.home import call_paths, confirmed, paths
from rookery.home.config import Config, ConfigError
from rookery.models.secrets import KNOWN
from rookery.wire.jsonrpc import RpcFailure, TooLarge
from rookery.wire.params import offers

SECONDS = 60.0
"""Until a silent client counts as one that cannot judge."""
NAME = "rookery"
"""This agent in rules."""


async def judge_all(
    session: ClientUpdates, actions: Sequence[ActionEvent], child: str = ""
) -> list[Judgement]:
    """What to do with each action. `child`: the conversation of the sub-agent that wants them."""
    translator = session.translator_of(child)
    wanted = [
        {
            "toolCall": _seen(translator.permission(action)),
            "risk": action.security_risk.value,
            "looks": not isinstance(action.action, MCPToolAction),
        }
        for action in actions
    ]
    if not wanted:
        return []
    if not offers(session.client.capabilities, "_meta", "rookery", "judge"):
        return [_judge_here(session, each) for each in wanted]
    params = KNOWN.json({"sessionId": session.record.id, "calls": wanted})
    try:
        asked = session.client.peer.request(METHOD, params)
        answer = await asyncio.wait_for(asked, SECONDS)
    except (RpcFailure, TooLarge, TimeoutError):
        answer = None
    return judgements_in(answer, len(wanted)) or [UNREACHED] * len(wanted)


def _seen(call: Json) -> Json:
    """The part that is judged. A look at a running command runs nothing."""
    given = call["rawInput"]
    looks = call["kind"] == "execute" and given.get("command") == "" and not given.get("reset")
    kind = {"kind": "read"} if looks else {}
    return {"toolCallId": call["toolCallId"], **danger.gist(call), **kind}


def _judge_here(session: ClientUpdates, wanted: Json) -> Judgement:
    profile = profile_of(NAME, ())
    mode = session.choices.wanted.mode
    confirm = next((ours for ours, own in profile.confirms if own == mode), modes.EVERY)
    config = _RULES.current()
    lay = call_paths.lay(paths.home(), os.environ, session.folder)
    record = session.record
    call = call_paths.look_at(NAME, wanted["toolCall"], [record.cwd, *record.roots], lay)
    if config is None:  # what would be denied is unknown: the user decides
        return Judgement("ask", "config", "config.toml is not valid")
    guard = config.policy.confirm_destructive
    said: Json = {"risk": wanted["risk"], "looks": wanted["looks"]}
    return judge(config.rules, call, confirm, guard=guard, profile=profile, **said)


class HomeRules:
    """The home's rules as they are now: a `stat` of each file for a look, and the last valid ones
    if a file is damaged. What an agent loosened in them waits for the user, as in a worker."""

    def __init__(self) -> None:
        self._stamp: tuple[object, ...] = ()
        self._config: Config | None = None

    def current(self) -> Config | None:
        """None: the file was never valid."""
        home = paths.home()
        stamp = (home, *confirmed.stamp(home))
        if stamp != self._stamp:
            self._stamp = stamp
            with suppress(ConfigError):  # the earlier rules stay
                record = confirmed.read(home)
                found = in_force.judged(home, record)
                in_force.remember(home, found, record)
                self._config = found.config
        return self._config


_RULES = HomeRules()
