"""Judges an action before it runs: by the client if it offers that, else here, by the home's rules,
the check for what cannot be undone, and the session's mode. The model's own view of the risk can
only add to it. Nothing runs without a judgement."""

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from itertools import batched
from operator import is_
from typing import NamedTuple

from openhands.sdk.event import ActionEvent
from openhands.sdk.mcp.definition import MCPToolAction
from openhands.tools.terminal.definition import TerminalAction

from rookery.agent import terminal
from rookery.agent.conversation import subagents
from rookery.agent.conversation.choices import PLAN
from rookery.agent.session import risk
from rookery.agent.session.client_updates import ClientUpdates
from rookery.client.config import in_force
from rookery.core.asks.asks import Judgement
from rookery.core.command_line import shell
from rookery.core.dangers.places import is_below
from rookery.core.json import Json
from rookery.core.policy import danger, modes, planning, rules
from rookery.core.policy.auto_answer import (
    MAX_CALLS,
    METHOD,
    UNREACHED,
    in_plan_mode,
    judge,
    judgements_in,
)
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
_MOVES = re.compile(r"\b(?:cd|pushd|popd)\b")
TYPED = "nothing is typed into a program. End it with C-c, and run what only looks."


class Foresight:
    """Judges a step's actions early, while they are still being written down."""

    def __init__(self, session: ClientUpdates) -> None:
        self._session = session
        self._begun: _Judging | None = None

    def begin(self, actions: list[ActionEvent]) -> None:
        """Begin to judge these actions. Earlier judging that nobody has asked for is given up."""
        if self._begun is not None:
            self._begun.judging.cancel()
        self._begun = self._begin(actions) if actions else None

    def _begin(self, actions: list[ActionEvent]) -> "_Judging":
        judging = judge_all(self._session, actions)
        task = asyncio.Task(judging, loop=asyncio.get_running_loop(), eager_start=True)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return _Judging(actions, self._session.choices.wanted.mode, task)

    async def judged(self, actions: list[ActionEvent]) -> tuple[str, list[Judgement]]:
        """Return the mode in which the actions were judged, and the judgements. If these are other
        actions than it began with, or the mode has changed, they are judged anew."""
        begun, self._begun = self._begun, None
        while True:
            if begun is None or not begun.fits(actions, self._session.choices.wanted.mode):
                if begun is not None:
                    begun.judging.cancel()
                begun = self._begin(actions)
            try:
                judgements = await begun.judging
            finally:
                begun.judging.cancel()
            if begun.fits(actions, self._session.choices.wanted.mode):
                return begun.mode, judgements


class _Judging(NamedTuple):
    actions: list[ActionEvent]
    mode: str
    judging: "asyncio.Task[list[Judgement]]"

    def fits(self, actions: list[ActionEvent], mode: str) -> bool:
        """Tell whether these are its actions, the same objects, since they never change."""
        same = len(actions) == len(self.actions) and all(map(is_, actions, self.actions))
        return same and mode == self.mode


async def judge_all(
    session: ClientUpdates, actions: Sequence[ActionEvent], child: str = ""
) -> list[Judgement]:
    """Judge each action. `child`: the conversation of the sub-agent whose actions they are."""
    wanted = _wanted_in_order(session, actions, child)
    refused = [_refused_by_plan(session, each) for each in wanted]
    left = [each for each, why in zip(wanted, refused, strict=True) if why is None]
    judged = iter(await _judge_left(session, left))
    return [next(judged) if why is None else why for why in refused]


async def _judge_left(session: ClientUpdates, wanted: list[Json]) -> list[Judgement]:
    if not wanted:
        return []
    if not offers(session.client.capabilities, "_meta", "rookery", "judge"):
        return [_judge_here(session, each) for each in wanted]
    judgements: list[Judgement] = []
    for calls in batched(wanted, MAX_CALLS):
        params = KNOWN.json({"sessionId": session.record.id, "calls": list(calls)})
        try:
            asked = session.client.peer.request(METHOD, params)
            answer = await asyncio.wait_for(asked, SECONDS)
        except (RpcFailure, TooLarge, TimeoutError):
            answer = None
        judgements += judgements_in(answer, len(calls)) or [UNREACHED] * len(calls)
    return judgements


def _wanted_in_order(
    session: ClientUpdates, actions: Sequence[ActionEvent], child: str
) -> list[Json]:
    """Return each action as it is judged; a command together with what decides where it runs: the
    terminal may be elsewhere by now, and an earlier command of the same step may lead it there."""
    place, moves = _place_of(session, child), list[str]()
    away = place if place and not _is_inside(session, place) else ""
    ordered = []
    for action in actions:
        each = _wanted(session, action, child)
        call = each["toolCall"]
        line = call.get("rawInput", {}).get("command")
        if call["kind"] == "execute" and isinstance(action.action, TerminalAction) and line:
            before = [*([f"cd {shlex.quote(away)}"] if away else []), *moves]
            call["rawInput"]["command"] = "\n".join([*before, line])[: danger.MAX_LINE_LENGTH]
            call["rawInput"] |= {"cwd": place} if place else {}
            moves += [line] if _MOVES.search(line) and shell.plain_parts(line) else []
        ordered.append(each)
    return ordered


def _place_of(session: ClientUpdates, child: str) -> str:
    """Return the terminal's directory; "" if it is not known."""
    own = session.running
    children = subagents.running(own) if child else []
    place = terminal.directory(next((each for each in children if str(each.id) == child), own))
    return os.path.realpath(place) if place else ""


def _is_inside(session: ClientUpdates, place: str) -> bool:
    """Tell whether it is one of the session's directories, or one where anything may be written."""
    record = session.record
    if any(is_below(place, os.path.realpath(root)) for root in (record.cwd, *record.roots)):
        return True
    lay = call_paths.lay(paths.home(), os.environ)
    guarded = any(is_below(place, each) for each in call_paths.guarded(record.cwd))
    return not guarded and any(is_below(place, each) for each in lay.free)


def _wanted(session: ClientUpdates, action: ActionEvent, child: str) -> Json:
    call = session.as_judged(session.translator_of(child).permission(action))
    seen = _seen(call)
    return {
        "toolCall": seen,
        "risk": risk.level(action),
        "looks": not isinstance(action.action, MCPToolAction),
        "typed": _is_typed(call) and seen["kind"] == "execute",
    }


def refused_by_plan(
    session: ClientUpdates, action: ActionEvent, child: str = ""
) -> Judgement | None:
    """Return plan mode's refusal, whatever the user or a client says; None if it may be done."""
    [wanted] = _wanted_in_order(session, [action], child)
    return _refused_by_plan(session, wanted)


def _refused_by_plan(session: ClientUpdates, wanted: Json) -> Judgement | None:
    if session.choices.wanted.mode != PLAN:
        return None
    if wanted["typed"]:  # `ls` means something else to a pager
        return Judgement("deny", f"confirm:{PLAN}", planning.FORBIDDEN, TYPED)
    call, config = _looked_at(session, wanted), _RULES.current()
    allows = config is not None and rules.decide(config.rules, call).do == "allow"
    return in_plan_mode(call, profile_of(NAME, ()), looks=wanted["looks"], allowed=allows)


def _seen(call: Json) -> Json:
    """Return the part that is judged. Looking at a running command, or ending it, runs nothing; an
    empty input is the Enter key, which may be a yes."""
    given = call["rawInput"]
    ends = _is_typed(call) and str(given.get("command")).upper() == "C-C"
    waits = given.get("command") == "" and not _is_typed(call)
    looks = call["kind"] == "execute" and (ends or waits) and not given.get("reset")
    kind = {"kind": "read"} if looks else {}
    return {"toolCallId": call["toolCallId"], **danger.gist(call), **kind}


def _is_typed(call: Json) -> bool:
    """Tell whether the call is input for the program that runs, not for the shell."""
    return call["kind"] == "execute" and bool(call["rawInput"].get("is_input"))


def _judge_here(session: ClientUpdates, wanted: Json) -> Judgement:
    profile = profile_of(NAME, ())
    mode = session.choices.wanted.mode
    otherwise = PLAN if mode == profile.plans else modes.EVERY
    confirm = next((ours for ours, own in profile.confirms if own == mode), otherwise)
    call, config = _looked_at(session, wanted), _RULES.current()
    if config is None:  # what would be denied is unknown: the user decides
        return Judgement("ask", "config", "config.toml is not valid")
    guard = config.policy.confirm_destructive
    options: Json = {"risk": wanted["risk"], "looks": wanted["looks"]}
    return judge(config.rules, call, confirm, guard=guard, profile=profile, **options)


def _looked_at(session: ClientUpdates, wanted: Json) -> rules.Call:
    record = session.record
    lay = call_paths.lay(paths.home(), os.environ, session.folder)
    lay = lay._replace(guarded=call_paths.guarded(record.cwd))
    return call_paths.look_at(NAME, wanted["toolCall"], [record.cwd, *record.roots], lay)


class HomeRules:
    """The home's current rules: each access does a `stat` of each file, and keeps the last valid
    rules if a file is damaged. If an agent loosened them, that waits for the user, as in a worker.
    """

    def __init__(self) -> None:
        self._stamp: tuple[object, ...] = ()
        self._config: Config | None = None

    def current(self) -> Config | None:
        """Return the current rules; None if the file was never valid."""
        home = paths.home()
        stamp = (home, *confirmed.stamp(home))
        if stamp != self._stamp:
            self._stamp = stamp
            with suppress(ConfigError):  # the earlier rules stay
                record = confirmed.read(home)
                judged = in_force.judged(home, record)
                in_force.remember(home, judged, record)
                self._config = judged.config
        return self._config


_RULES = HomeRules()


def home_settings() -> Config | None:
    """Return the current settings; None if the file was never valid."""
    return _RULES.current()
