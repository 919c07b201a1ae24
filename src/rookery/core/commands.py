"""Commands: what clients ask of a session. Their outcome is always an event with the command's id
as its cause."""

from rookery.core.agent import switching
from rookery.core.asks.asks import Refusal
from rookery.core.critic.state import CHOICES
from rookery.core.header import EMPTY
from rookery.core.json import lenient
from rookery.core.json.events import Json, dumps
from rookery.core.policy import modes, unattended
from rookery.core.turn import clearing

NAMES = (
    "prompt",
    "queue",
    "cancel",
    "force_end",
    "answer",
    "set",
    "rename",
    "start",
    "stop",
    "restart",
    "archive",
    "unarchive",
    "snooze",
    "switch",
    "clear",
    "delete",
    "settings",
)

WAKES = frozenset({"prompt", "queue", "start", "restart", "answer", "settings"})
"""Worth starting a worker for; the others act on what is awake, or on the log alone."""

LONGEST_TITLE = 200

CHANGES = ("edit", "move", "remove")
"""Of what waits in the queue, that need no worker."""

SWITCH = {"on": True, "off": False, "default": None, True: True, False: False}
"""Of what is ours to set: `default` leaves it to the configuration."""


def check(command: Json, prompt_bytes: int) -> Refusal | None:
    """Why a command is refused before it reaches any machine; None when it may pass."""
    match command.get("do"):
        case "prompt":
            return _check_prompt(command, prompt_bytes)
        case "rename":
            if not lenient.text(command, "title").strip():
                return Refusal("no_title", "A title needs at least one character.")
        case "answer":
            if not lenient.text(command, "ask"):
                return Refusal("no_ask", "An answer must name its question.")
        case "set":
            return _check_set(command)
        case "queue":
            return _check_queue(command, prompt_bytes)
        case "switch":
            return switching.check(command)
        case "settings":
            if not lenient.text(command, "take"):
                return Refusal("no_settings", "`take` is missing: the fingerprint of the settings.")
        case "snooze":
            until = lenient.integer(command, "until")
            if until is None or until < 0:
                return Refusal(
                    "no_time", "`until` is missing: a time in milliseconds since the epoch."
                )
        case "cancel" | "force_end" | "start" | "stop" | "restart":
            pass
        case "archive" | "unarchive" | "clear" | "delete":
            pass
        case other:
            known = ", ".join(NAMES)
            return Refusal(
                "unknown_command", f"There is no command {dumps(other)[:100]}. Known: {known}."
            )
    return None


def is_guarded(command: Json) -> bool:
    """Whether a command may loosen what the user decides: only persons may send it.

    Model and effort are the agent's tools, not its leash. A slash command is the agent's own to
    read, and may be `/confirm all`: all of them count.
    """
    match command.get("do"):
        case "answer" | "switch" | "settings":
            return True
        case "set":
            return command.get("option") not in ("model", "effort")
        case "prompt" | "queue":
            blocks = lenient.mappings(command, "prompt")
            return any(_is_slash(lenient.text(block, "text")) for block in blocks)
    return False


def _is_slash(text: str) -> bool:
    """A word behind a slash, not a path."""
    first = next(iter(text.split(maxsplit=1)), "")
    return first[:1] == "/" and first[1:2].isalpha() and "/" not in first[1:]


def wakes(command: Json) -> bool:
    """Whether a command is worth a worker where none is awake. To leave an ask for later, or to
    give it up, is not."""
    if command["do"] == "answer" and (command.get("defer") or command.get("cancel")):
        return False
    if command["do"] == "queue" and command.get("op") in CHANGES:
        return False  # else what waits for a worker would be sent by it
    return command["do"] in WAKES or offline(command) is None


def _check_set(command: Json) -> Refusal | None:
    if not lenient.text(command, "option"):
        return Refusal("no_option", "Name an option: mode, model, effort, or its id.")
    if not isinstance(command.get("value"), str | bool) or command["value"] == "":
        return Refusal("no_value", "The option needs a value.")
    if command["option"] == modes.OPTION and _confirm(command) is None:
        return Refusal("unknown_value", f"confirm can be: {', '.join(modes.VALUES)}.")
    if command["option"] == unattended.OPTION and unattended.chosen(command) is None:
        return Refusal("unknown_value", f"unattended can be: {', '.join(unattended.CONFIRMS)}.")
    if command["option"] in CHOICES and command["value"] not in SWITCH:
        return Refusal("unknown_value", f"{command['option']} can be: on, off, default.")
    return None


def _confirm(command: Json) -> str | None:
    return modes.value_of(str(command["value"]))


def _check_queue(command: Json, most: int) -> Refusal | None:
    match command.get("op"):
        case "edit":
            return _check_prompt(command, most)
        case "move" | "remove" | "send":
            return None
    return Refusal("unknown_operation", "The queue knows edit, move, remove and send.")


def _check_prompt(command: Json, most: int) -> Refusal | None:
    prompt = command.get("prompt")
    if not isinstance(prompt, list) or not prompt:
        return Refusal("empty_prompt", "A prompt needs at least one content block.")
    if any(
        not isinstance(block, dict) or not isinstance(block.get("type"), str) for block in prompt
    ):
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


def put_away(command: Json) -> Json:
    """Archived, or snoozed until a time, in milliseconds of the epoch; 0: no more."""
    if command["do"] == "snooze":
        return {"sessionUpdate": "_session", "snoozed": command["until"]}
    return {"sessionUpdate": "_session", "archived": command["do"] == "archive"}


def pinned(option: str, value: str | bool) -> str | bool | None:
    """What an agent's next start is told; the effort `default` takes the pin back."""
    return None if (option, value) == ("effort", "default") else value


def _switched(value: object) -> bool | None:
    return SWITCH.get(value) if isinstance(value, str | bool) else None


def offline(command: Json, header: Json = EMPTY) -> Json | None:
    """The update that carries out a command without a worker, under the lock; None: it needs
    one."""
    match command.get("do"):
        case "prompt":  # no more workers may be awake: it waits for one
            item = {"op": "add", "id": command["id"], "prompt": command["prompt"]}
            return {"sessionUpdate": "_queue", **item, "placeless": True}
        case "queue" if command.get("op") in CHANGES:
            given: Json = {key: command[key] for key in ("op", "prompt", "to") if key in command}
            return {"sessionUpdate": "_queue", **given, "id": lenient.text(command, "item")}
        case "rename":
            return {"sessionUpdate": "_session", "title": command["title"][:LONGEST_TITLE]}
        case "archive" | "unarchive" | "snooze":
            return put_away(command)
        case "set" if command["option"] in CHOICES:
            return {"sessionUpdate": "_session", command["option"]: _switched(command["value"])}
        case "set" if command["option"] in ("mode", "model", "effort"):
            name, value = command["option"], command["value"]
            return {"sessionUpdate": "_session", name: pinned(name, value)}
        case "set" if command["option"] == modes.OPTION:
            # The mode follows from it, where the agent has one for it.
            chosen: Json = {"confirm": _confirm(command), "confirmBy": None, "mode": None}
            return {"sessionUpdate": "_session", **chosen, unattended.OPTION: None}
        case "set" if command["option"] == unattended.OPTION:
            order = unattended.chosen(command)
            assert order is not None
            return {"sessionUpdate": "_session", **order.update(), "confirmBy": None, "mode": None}
        case "switch":
            return switching.switched(header, command)
        case "clear":
            return clearing.cleared("later", None, None).update
        case "cancel" | "force_end" | "stop" | "answer" | "delete":
            return {"sessionUpdate": "_done", "command": command["do"]}
    return None
