"""A recorded session as a script, to replay a bug report: from a session's log, from its events as
lines, or from raw traffic ({"t", "dir", "msg"} lines)."""

from collections.abc import Iterable
from typing import Any

from rookery.acp.player.script import ScriptError
from rookery.core.agent.chunks import CHILD
from rookery.core.json import Event, Json, kind_of, lenient, loads
from rookery.core.json.events import event_from_json
from rookery.log.errors import LogError
from rookery.log.reader import Reader

LONGEST_WAIT = 0.2
STOPS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
SILENT_ENDS = ("forced", "orphaned", "unresponsive")


class Recorder:
    """Collects steps, turn by turn, with the gaps between them."""

    def __init__(self, speed: float | None) -> None:
        self.agent: Json = {}
        self.before: list[Json] = []
        """What came before the first prompt."""
        self.turns: list[list[Json]] = []
        self._speed = speed
        self._running = False
        self._last = 0.0

    def begin(self, at: float) -> None:
        self.turns.append([])
        self._running = True
        self._last = at

    def add(self, step: Json, at: float) -> None:
        if not self.turns:
            self.before.append(step)
            return
        steps = self.turns[-1]
        if not self._running:
            if not steps or "late" not in steps[0]:
                steps.insert(0, {"late": []})
            steps = steps[0]["late"]
        gap = max(0.0, at - self._last)
        gap = min(gap, LONGEST_WAIT) if self._speed is None else gap / self._speed
        if gap >= 0.001:
            steps.append({"wait": round(gap, 3)})
        steps.append(step)
        self._last = at

    def end(self, step: Json, at: float) -> None:
        if self._running:
            self.add(step, at)
            self._running = False

    def script(self) -> Json:
        if not self.turns:
            raise ScriptError("the recording has no prompt")
        played = {"agent": self.agent, "start": {"after_new": self.before}, "turns": self.turns}
        return played | {"otherwise": [{"text": "(The recording ends here.)"}]}


def script_of_log(directory: str, speed: float | None) -> Json:
    try:
        reader = Reader.open(directory)
    except LogError as error:
        raise ScriptError(str(error)) from None
    with reader:
        return script_of_events(reader.events(), speed)


def script_of_lines(text: bytes, speed: float | None) -> Json:
    values = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            value = loads(line) if line.strip() else {}
        except ValueError as error:
            raise ScriptError(f"line {number} is not JSON: {error}") from None
        if isinstance(value, dict):
            values.append(value)
    if any("dir" in value for value in values):
        return script_of_traffic(values, speed)
    try:
        return script_of_events([event_from_json(value) for value in values if value], speed)
    except ValueError as error:
        raise ScriptError(str(error)) from None


# --- Events


def script_of_events(events: Iterable[Event], speed: float | None) -> Json:
    recorder = Recorder(speed)
    for event in events:
        at, update = event.at / 1000, event.update
        match kind_of(update):
            case "_prompt":
                recorder.begin(at)
            case "_turn":
                if update.get("state") == "idle":
                    recorder.end(_end_of(update), at)
            case "_ask":
                if update.get("state") == "asked" and "decide" not in update:
                    recorder.add(_said_by(update.get("session"), _ask_of(update)), at)
            case "_agent":
                if update.get("state") == "ready":
                    _describe(recorder.agent, update, update.get("info"))
            case "_raw":
                if update.get("source") == "update" and isinstance(update.get("value"), dict):
                    recorder.add({"update": update["value"]}, at)
            case kind if kind == CHILD and isinstance(update.get("update"), dict):
                recorder.add(_said_by(update.get("session"), {"update": update["update"]}), at)
            case kind if not kind.startswith("_"):
                recorder.add({"update": update}, at)
    return recorder.script()


def _said_by(child: object, step: Json) -> Json:
    """Return a step of the sub-agent with the session `child`, or of the agent itself."""
    return {"child": child, "steps": [step]} if child and isinstance(child, str) else step


def _end_of(update: Json) -> Json:
    reason, error = update.get("reason"), update.get("error")
    if isinstance(error, dict) and reason != "agent_exited":
        return {"error": error}
    if reason == "rate_limited":
        return {"rate_limit": None}
    if reason == "agent_exited":
        return {"crash": 1}
    if reason in SILENT_ENDS:
        return {"until": "cancel"}
    return {"stop": reason if reason in STOPS else "end_turn"}


def _ask_of(update: Json) -> Json:
    if isinstance(update.get("url"), str):
        name = update.get("elicitation") or update.get("elicitationId") or update["url"]
        return {
            "question": update.get("message") or "?",
            "url": update["url"],
            "elicitationId": name,
        }
    if update.get("kind") == "question":
        return {"question": update.get("message") or "?", "schema": update.get("schema") or {}}
    asked: Json = {"toolCall": update.get("toolCall") or {}, "announce": False}
    if isinstance(update.get("options"), list):
        asked["options"] = update["options"]
    return {"ask": asked}


def _describe(agent: Json, state: Json, info: Any) -> None:
    if isinstance(info, dict):
        agent |= {key: info[key] for key in ("name", "title", "version") if info.get(key)}
    for key in ("modes", "configOptions"):
        if state.get(key):
            agent[key] = state[key]


# --- Raw traffic


def script_of_traffic(lines: Iterable[Json], speed: float | None) -> Json:
    """Make a script of raw traffic. `send` is the client's side, `recv` the agent's."""
    recorder = Recorder(speed)
    prompts: dict[Any, int] = {}
    own: object = None
    for line in lines:
        message, at = line.get("msg"), line.get("t")
        if not isinstance(message, dict) or not isinstance(at, int | float):
            continue
        params = lenient.mapping(message, "params")
        said_in = params.get("sessionId")
        child = said_in if own and said_in != own else None
        match line.get("dir"), message.get("method"), message.get("id"):
            case "send", "session/prompt", int() | str() as id:
                recorder.begin(at)
                prompts[id], own = len(recorder.turns), said_in
            case "send", _, _:
                continue
            case _, "session/update", _ if isinstance(params.get("update"), dict):
                recorder.add(_said_by(child, {"update": params["update"]}), at)
            case _, "session/request_permission", _:
                recorder.add(_said_by(child, _ask_of(params)), at)
            case _, "elicitation/create", _:
                asked = {"kind": "question", "schema": params.get("requestedSchema")}
                recorder.add(_said_by(child, _ask_of(params | asked)), at)
            case _, None, int() | str():
                _take_answer(recorder, message, prompts, at)
    return recorder.script()


def _take_answer(recorder: Recorder, message: Json, prompts: dict[Any, int], at: float) -> None:
    result, error = message.get("result"), message.get("error")
    turn = prompts.pop(message["id"], None)
    if turn == len(recorder.turns) and turn is not None:
        if isinstance(error, dict):
            recorder.end({"error": error}, at)
        else:
            stop = result.get("stopReason") if isinstance(result, dict) else None
            recorder.end({"stop": stop or "end_turn"}, at)
    elif isinstance(result, dict):
        _describe(recorder.agent, result, result.get("agentInfo") or result.get("info"))
