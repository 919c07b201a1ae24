"""Commands: requests of clients to a session. The outcome is always an event with the command's id
as its cause. `COMMANDS` describes all properties of each that matter before it is carried out."""

from collections.abc import Callable
from typing import NamedTuple

from rookery.core import budgets, worktree
from rookery.core.agent import switching
from rookery.core.asks.asks import Refusal
from rookery.core.critic.state import CHOICES
from rookery.core.header import EMPTY, Header
from rookery.core.json import Json, dumps, lenient
from rookery.core.policy import approvals, modes, unattended
from rookery.core.turn import clearing, rate_limit, rewinding

FROM_THE_AGENT = "from_the_agent"

CHANGES = ("edit", "move", "remove")
"""Queue operations that need no worker."""

PINS = ("mode", "model", "effort")
"""Options that can be set before there is an agent."""

BUDGETS = {name: scope for scope, name in budgets.NAMES.items()}

SWITCH = {"on": True, "off": False, "default": None, True: True, False: False}
"""Values of Rookery's own options: `default` leaves the choice to the configuration."""


# --- arguments ---------------------------------------------------------------------------------


def _requires(field: str, refusal: Refusal) -> "Check":
    def check(command: Json, _most: int) -> Refusal | None:
        return None if lenient.text(command, field).strip() else refusal

    return check


def _check_set(command: Json, _most: int) -> Refusal | None:
    if not lenient.text(command, "option"):
        return Refusal("no_option", "Name an option: mode, model, effort, or its id.")
    if not isinstance(command.get("value"), str | bool) or command["value"] == "":
        return Refusal("no_value", "The option needs a value.")
    if command["option"] == modes.OPTION and approvals.id_of(str(command["value"])) is None:
        return Refusal("unknown_value", f"confirm can be: {approvals.LISTED}.")
    if command["option"] == unattended.OPTION and unattended.chosen(command) is None:
        return Refusal("unknown_value", f"unattended can be: {', '.join(unattended.CONFIRMS)}.")
    if command["option"] in BUDGETS:
        try:
            budgets.check(str(command["value"]))
        except budgets.BadBudget as error:
            return Refusal("unknown_value", f"{command['option']} {error}.")
    if command["option"] in CHOICES and command["value"] not in SWITCH:
        return Refusal("unknown_value", f"{command['option']} can be: on, off, default.")
    return None


def _check_queue(command: Json, most: int) -> Refusal | None:
    match command.get("op"):
        case "edit":
            return _check_prompt(command, most)
        case "move" | "remove" | "send":
            return None
    return Refusal("unknown_operation", "A queue command is edit, move, remove or send.")


def _check_prompt(command: Json, most: int) -> Refusal | None:
    prompt = command.get("prompt")
    if not isinstance(prompt, list) or not prompt:
        return Refusal("empty_prompt", "A prompt needs at least one content block.")
    if not all(isinstance(each, dict) and isinstance(each.get("type"), str) for each in prompt):
        return Refusal("bad_prompt", "A prompt is a list of ACP content blocks, each with a type.")
    texts = [block.get("text", "") for block in prompt if block["type"] == "text"]
    if any(not isinstance(text, str) for text in texts):
        return Refusal("bad_prompt", "A text block needs a text.")
    if len(texts) == len(prompt) and not "".join(texts).strip():
        return Refusal("empty_prompt", "The prompt is empty.")
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    if size > most:
        return Refusal("prompt_too_long", f"The prompt has {size} bytes; the limit is {most}.")
    return None


def _check_retry(command: Json, _most: int) -> Refusal | None:
    turn = command.get("turn", 0)
    if type(turn) is int and turn >= 0:
        return None
    return Refusal("no_turn", "`turn` is the number of a turn; without it, the last one.")


# --- without a worker --------------------------------------------------------------------------


def _moot(_header: Header, command: Json) -> Json:
    """Complete the command without effect: there is nothing that it could act on."""
    return {"sessionUpdate": "_done", "command": command["do"]}


def _queue_up(_header: Header, command: Json) -> Json:
    """Queue the prompt: no more workers may be awake, so it waits for one."""
    item = {"op": "add", "id": command["id"], "prompt": command["prompt"]}
    return {"sessionUpdate": "_queue", **item, "placeless": True}


def _change_queue(_header: Header, command: Json) -> Json | None:
    if command.get("op") not in CHANGES:
        return None
    given: Json = {key: command[key] for key in ("op", "prompt", "to") if key in command}
    return {"sessionUpdate": "_queue", **given, "id": lenient.text(command, "item")}


def _resume(header: Header, command: Json) -> Json:
    """Set whether the prompt that met a rate limit is sent again when the limit is lifted."""
    wanted = command.get("off") is not True
    if wanted and not rate_limit.can_wait(header):
        return _moot(header, command)
    return {"sessionUpdate": "_session", "resumes": wanted}


def _set(_header: Header, command: Json) -> Json | None:
    command = meant(command)
    option, value = command["option"], command["value"]
    chosen: Json = {}
    if option in CHOICES:
        chosen = {option: SWITCH.get(value)}
    elif option in BUDGETS:
        chosen = {"budget": {BUDGETS[option]: str(value)}}
    elif option in PINS:
        chosen = {option: pinned(option, value)}
    elif option == modes.OPTION:  # the mode follows from it, where the agent has one for it
        chosen = {"confirm": modes.value_of(str(value)), "confirmBy": None, "mode": None}
        chosen |= {unattended.OPTION: None}
    elif option == unattended.OPTION and (order := unattended.chosen(command)) is not None:
        chosen = {**order.update(), "confirmBy": None, "mode": None}
    return {"sessionUpdate": "_session", **chosen} if chosen else None


def meant(command: Json) -> Json:
    """Return a `set` with the approvals choice "plan" replaced by the agent's mode of that name."""
    if (
        command["option"] == modes.OPTION
        and approvals.id_of(str(command["value"])) == approvals.PLAN
    ):
        return command | {"option": "mode", "value": approvals.PLAN}
    return command


def pinned(option: str, value: str | bool) -> str | bool | None:
    """Return the value that an agent's next start gets; None if `default` removes the pin."""
    return None if (option, value) == ("effort", "default") else value


def _clear(_header: Header, _command: Json) -> Json:
    return clearing.cleared("later", None, None).update


# --- which wake a session, and which only a user may send --------------------------------------


def _decides(command: Json) -> bool:
    """Whether an answer needs a worker: deferring an ask, or dropping it, does not."""
    return not command.get("defer") and not command.get("cancel")


def _loosens(command: Json) -> bool:
    """Whether an option may loosen what the user decides: model and effort do not."""
    return command.get("option") not in ("model", "effort")


def _is_slash(command: Json) -> bool:
    """Whether a prompt has a slash command. What it means is up to the agent, and it may be
    `/confirm all`, so each one counts."""
    texts = [lenient.text(block, "text") for block in lenient.mappings(command, "prompt")]
    first = [next(iter(text.split(maxsplit=1)), "") for text in texts]
    return any(w[:1] == "/" and w[1:2].isalpha() and "/" not in w[1:] for w in first)  # no path


def _ends(command: Json) -> bool:
    """Whether a stop ends anything: putting an idle session to sleep does not."""
    return command.get("idle") is not True


# --- the table ---------------------------------------------------------------------------------

type Check = Callable[[Json, int], Refusal | None]
type Offline = Callable[[Header, Json], Json | None]
type Test = bool | Callable[[Json], bool]


class Command(NamedTuple):
    handler: str = "record"
    """The method of `worker/commands.py` that carries it out; `record` logs its update."""
    check: Check | None = None
    """Of its arguments; with the number of bytes that a prompt may have."""
    offline: Offline | None = None
    """The update that carries it out without a worker, given the header; None: it needs one."""
    wakes: Test | None = None
    """Whether it wakes a sleeping session; None: where it cannot be done offline."""
    guarded: Test = False
    """Whether it may loosen what the user decides: it needs proof that a user sent it."""
    takes: Test = False
    """Whether it takes away, hides or ends what is there: an agent's process may not."""
    deed: str = ""
    """What an agent then cannot do; "": it is in `DEEDS`."""


NO_ASK = Refusal("no_ask", "An answer must name its question.")
NO_SUBAGENT = Refusal("no_subagent", "`subagent` is missing: the id of a running sub-agent.")
NO_SETTINGS = Refusal("no_settings", "`take` is missing: the fingerprint of the settings.")

COMMANDS = {
    "prompt": Command("prompt", _check_prompt, _queue_up, True, _is_slash),
    "retry": Command("retry", _check_retry, guarded=True),
    "queue": Command("queue", _check_queue, _change_queue, None, _is_slash, takes=True),
    "cancel": Command("cancel", offline=_moot, takes=True),
    "cancel_subagent": Command(
        "cancel_subagent", _requires("subagent", NO_SUBAGENT), _moot, takes=True
    ),
    "force_end": Command("force_end", offline=_moot, takes=True),
    "answer": Command("answer", _requires("ask", NO_ASK), _moot, _decides, True),
    "set": Command("set_option", _check_set, _set, None, _loosens),
    "resume": Command(offline=_resume, takes=True),
    "start": Command("start"),
    "stop": Command("stop", offline=_moot, takes=_ends),
    "restart": Command("restart", takes=True),
    "switch": Command("handover.switch", switching.check, switching.switched, guarded=True),
    "clear": Command("handover.clear", offline=_clear, takes=True),
    "rewind": Command("rewind.start", rewinding.check, guarded=True),
    "delete": Command("handover.delete", offline=_moot, takes=True),
    "worktree": Command(check=worktree.check, offline=worktree.ended, guarded=True),
    "settings": Command("take_settings", _requires("take", NO_SETTINGS), guarded=True),
}
NAMES = tuple(COMMANDS)

WITHDRAWS = ("cancel", "force_end", "queue", "stop")
"""Commands with which agents may end what they alone have begun."""

DEEDS = {
    "answer": "answer asks",
    "cancel": "cancel turns",
    "cancel_subagent": "cancel sub-agents",
    "clear": "clear a session's conversation",
    "delete": "delete sessions",
    "force_end": "end turns",
    "queue": "change the queue of a session",
    "restart": "restart agents",
    "resume": "continue limited sessions",
    "retry": "send prompts again",
    "rewind": "rewind a session",
    "set": "change what is asked",
    "settings": "confirm settings",
    "stop": "stop sessions",
    "switch": "switch agents",
    "worktree": "merge or drop worktrees",
}


def row_of(command: Json) -> Command | None:
    name = command.get("do")
    return COMMANDS.get(name) if isinstance(name, str) else None


def check(command: Json, prompt_bytes: int, row: Command | None = None) -> Refusal | None:
    """Return why a command is refused before it reaches any machine; None if it may pass. `row`:
    how the command is carried out, here and below, if it is not in the table."""
    row = row or row_of(command)
    if row is None:
        return Refusal("unknown_command", f"There is no command {dumps(command.get('do'))[:100]}.")
    return row.check(command, prompt_bytes) if row.check else None


def offline(command: Json, header: Header = EMPTY, row: Command | None = None) -> Json | None:
    """Return the update that carries out a command without a worker, if it needs none."""
    row = row or row_of(command)
    return None if row is None or row.offline is None else row.offline(header, command)


def wakes(command: Json, row: Command | None = None) -> bool:
    row = row or row_of(command)
    if row is None or row.wakes is None:
        return offline(command, row=row) is None
    return _holds(row.wakes, command)


def is_guarded(command: Json, row: Command | None = None) -> bool:
    row = row or row_of(command)
    return row is not None and _holds(row.guarded, command)


def agents_refusal(
    command: Json, row: Command | None = None, *, alone: bool = False
) -> Refusal | None:
    """Return why a command is refused from an agent's process; None if it is accepted. `alone`:
    nothing that it could end belongs to a person."""
    row = row or row_of(command)
    if row is None:
        return None
    guarded = _holds(row.guarded, command)
    if not guarded and (not _holds(row.takes, command) or (alone and command["do"] in WITHDRAWS)):
        return None
    slash = guarded and command["do"] in ("prompt", "queue")
    deed = "send slash commands" if slash else row.deed or DEEDS[command["do"]]
    return Refusal(FROM_THE_AGENT, f"An agent cannot {deed}; this came from an agent's process.")


def _holds(test: Test, command: Json) -> bool:
    return test if isinstance(test, bool) else test(command)
