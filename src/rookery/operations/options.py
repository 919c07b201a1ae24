"""The options of a session: its agent, that agent's options, and how it asks for approval."""

from typing import TYPE_CHECKING, Annotated

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, command

if TYPE_CHECKING:
    from rookery.core.json import Json

GROUP = "Start and talk"
NEW_MODEL = "Model of the new agent."

Option = Annotated[
    str,
    Arg(
        "mode, model, effort, confirm, or an option's id.",
        max_length=500,
        pattern=r"\S",
        positional=True,
        reason="no_option",
    ),
]
Value = Annotated[
    str | bool, Arg("Its new value.", max_length=1000, positional=True, reason="no_value")
]
Destructive = Annotated[
    bool, Arg("With `unattended` set to `all`: also what cannot be undone.", typed=False)
]
Who = Annotated[str, Arg("Who chose it, for the log.", max_length=80, typed=False)]
Agent = Annotated[
    str,
    Arg("The new agent.", max_length=500, pattern=r"\S", how="agent", reason="no_agent"),
]
Model = Annotated[str | None, Arg(NEW_MODEL, max_length=500, pattern=r"\S", reason="no_model")]


@command(
    "Set an option",
    group=GROUP,
    on="session",
    listed=False,
    examples=(
        "3f2a",
        "3f2a model opus",
        "3f2a confirm plan",
        "3f2a confirm ask-when-risky",
        "3f2a effort default",
        "3f2a refine on",
        "3f2a critic off",
        '3f2a budget_session "2 USD"',
    ),
)
def set_(option: Option, value: Value, destructive: Destructive = False, told: Who = "") -> "Json":
    """Set mode, model, effort and other options. Without VALUE, show the choices.

    If the agent is not running, mode, model and effort are saved for its next start.

    Every session has `confirm`, how it asks for approval: ask-always, ask-when-risky (only about
    actions that are destructive or cannot be judged), approve-all (ask only about destructive
    actions) or plan (change nothing yet). The ids every, risky and all are taken, too. If the agent
    has a mode of its own for one of them (Claude, Codex, Gemini, Qwen), that mode is used: the
    agent then decides, and your rules apply only to what it asks. This is for one session; for new
    ones: rookery config set session.confirm VALUE.

    `unattended` is for sessions that never ask you: all, risky or reject, like the flags of
    `rookery run`. Setting `confirm` turns it off. `refine on` sends poor verdicts back to the
    agent, `critic off` turns the critic off in this session.
    """
    request: Json = {"do": "set", "option": option, "value": value}
    request |= {"destructive": True} if destructive else {}
    return request | ({"told": told} if told else {})


def _would_switch(at: At, agent: Agent, model: Model = None) -> Preview | None:
    from rookery.agents import registry
    from rookery.client.config import in_force
    from rookery.core.agent import switching
    from rookery.core.refusals import Refused
    from rookery.home import paths
    from rookery.log.reader import Reader
    from rookery.operations.calling.carrying import preview_of

    with Reader.open(paths.session_dir(at.home, at.session)) as log:
        header = log.header()
    known = registry.names(in_force.load(at.home).agents)
    wrong = switching.refusal(header, {"agent": agent}, known)
    if wrong is not None:
        raise Refused(*wrong)
    lines = switching.foreseen(header, *map(registry.title_of, (header.agent, agent)))
    return preview_of("\n".join(lines), header.agent, model) if lines else None


@command(
    "Switch the agent",
    group=GROUP,
    on="session",
    listed=False,
    typed=False,
    preview=_would_switch,
)
def switch(agent: Agent, model: Model = None) -> "Json":
    """Let another agent take over. It has no memory of the conversation."""
    return {"do": "switch", "agent": agent} | ({} if model is None else {"model": model})
