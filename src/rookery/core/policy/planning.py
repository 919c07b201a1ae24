"""Plan mode: an agent explores and plans, and changes nothing until the user approves. What it may
do meanwhile is decided here from the action itself, not from what a model says about it."""

from typing import TYPE_CHECKING

from rookery.core import command_line

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core.policy import rules

MODE = "plan"
"""The name of plan mode, in our own agent and in `modes`."""
LOOKS = frozenset({"read", "search", "think"})
WEB = frozenset({"web_fetch", "web_search"})
"""Tools of our own agent that read the web: they change nothing, and are asked about."""
FORBIDDEN = "not in plan mode"
"""So begins what a model is told of an action that is refused."""
ADVICE = "Look around with what only reads, and write down the plan; the user decides when to go."


def refusal(call: "rules.Call", *, own: bool, allowed: bool = False) -> str:
    """Return why an action is not carried out in plan mode, for the model; "" if it only looks.
    `own`: its tool is the agent's own, not a server's. `allowed`: a rule of the user's allows it.
    """
    if own and (call.kind in LOOKS or (call.named and call.tools[0] in WEB)):
        return ""
    if own and call.kind == "execute":
        why = _change_in(call)
        return f"nothing is changed yet, and {why}. {ADVICE}" if why else ""
    if not own:  # what a server's tool does, only the user can know
        reason = "tools of MCP servers are called only if a rule of the user's allows them"
        return "" if allowed else f"{reason}. {ADVICE}"
    return f"nothing is changed yet. {ADVICE}"


def _change_in(call: "rules.Call") -> str:
    lines = dict.fromkeys(command.whole for command in call.commands if command.whole)
    if not lines or call.cut:
        return command_line.read_only.UNCLEAR
    return next(filter(None, map(command_line.read_only.change_in, lines)), "")


def only_looks(call: "rules.Call") -> bool:
    """Return whether one of the agent's own commands only looks, and stays where it may: then
    nobody is asked about it."""
    if call.danger or call.kind == "think":  # a sub-agent, whose actions are judged one by one
        return not call.danger
    return call.kind == "execute" and not (call.programs or _change_in(call) or _leads_out(call))


def _leads_out(call: "rules.Call") -> bool:
    """Whether a word may name a path elsewhere: such commands are asked about."""
    names = {name for command in call.commands for name in command.names}
    names |= {name[name.index("/") :] for name in names if name[:1] == "-" and "/" in name}
    inside = tuple(f"{root.rstrip('/')}/" for root in call.roots)
    return any(
        name.startswith("~")
        or any(map(_is_up, name.split("/")))
        or (name.startswith("/") and f"{name}/" not in inside and not name.startswith(inside))
        for name in names
        if name != "/dev/null"
    )


def _is_up(name: str) -> bool:
    """Whether it may stand for the parent directory: `..`, or a pattern like `.*`."""
    return name == ".." or (name[:1] == "." and bool({*name} & {*"*?["}))
