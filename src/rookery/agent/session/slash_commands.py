"""Slash commands: requests of the user to the agent itself, without its model."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from openhands.sdk.context.condenser.base import NoCondensationAvailableException
from openhands.sdk.event import MessageEvent, SystemPromptEvent
from openhands.sdk.skills import Skill

from rookery.agent.conversation import hooks, skills
from rookery.agent.conversation.assembly import instructions_of, skills_of
from rookery.agent.conversation.choices import MODE_OF, MODES, PLAN
from rookery.agent.conversation.steps import Conversation
from rookery.agent.provider.failures import failure_of
from rookery.agent.sdk_patches.llm import FAILURES
from rookery.agent.storage import store
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals
from rookery.core.units import money
from rookery.models.documents import SettingsError
from rookery.wire.choices import UnknownChoice

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

type Parts = list[tuple[str, str]]

FORM = re.compile(r"/([A-Za-z][\w.-]*)(?:\s+(.*))?", re.DOTALL)


class SlashCommand(NamedTuple):
    """A command in a prompt."""

    name: str
    rest: str


def said_in(parts: Parts) -> SlashCommand | None:
    """Return the command if a prompt begins with a slash and a word, not with a path."""
    if not parts or parts[0][0] != "text":
        return None
    match = FORM.fullmatch(parts[0][1].strip())
    return SlashCommand(match[1], (match[2] or "").strip()) if match else None


def advertised(conversation: Conversation) -> Json:
    """Return the update that lists the commands for a client."""
    listed: list[Json] = [_entry(each.name, each.about, each.hint) for each in COMMANDS]
    listed += [
        _entry(skill.name, skill.description or "A skill from this directory.", "what to do")
        for skill in skills_of(conversation)
        if skill.name not in BY_NAME
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}


def _entry(name: str, about: str, hint: str) -> Json:
    entry: Json = {"name": name, "description": about}
    return entry | ({"input": {"hint": hint}} if hint else {})


def skill_called(session: "Session", command: SlashCommand) -> Skill | None:
    if command.name in BY_NAME:
        return None
    return next((each for each in skills_of(session.running) if each.name == command.name), None)


def with_skill(skill: Skill, command: SlashCommand) -> Parts:
    """Return the message when the user calls a skill by name."""
    asked = command.rest or f"Do what the skill {skill.name} says."
    text = skills.filled(skill, command.rest)
    return [("text", asked), ("text", f'<skill name="{skill.name}">\n{text}\n</skill>')]


# ---------------------------------------------------------------- carrying them out


def answer(session: "Session", command: SlashCommand) -> str | None:
    """Return the answer of a command that needs no thread; None: see `work`."""
    known = BY_NAME.get(command.name)
    if known is None:
        return f"There is no command /{command.name}.\n\n{_help(session)}"
    if command.name == "title" and command.rest:
        session.entitle(command.rest)
        return f"The title is now: {session.record.title}"
    return None if known.changes else known.run(session, command.rest)


def work(session: "Session", command: SlashCommand) -> str:
    """Carry out a command that changes the conversation. Blocks."""
    return BY_NAME[command.name].run(session, command.rest)


def _help(session: "Session", _: str = "") -> str:
    lines = [f"- `/{each.name}` {each.about}" for each in COMMANDS]
    skills = [_skill(each) for each in skills_of(session.running)]
    return "\n".join(["Commands:", *lines, *(["", "Skills:", *skills] if skills else [])])


def _skill(skill: Skill) -> str:
    if skill.name in BY_NAME:
        return f"- {skill.name}: rename it to call it, `/{skill.name}` is Rookery's own command"
    return f"- `/{skill.name}` {skill.description or ''}"


def _confirm(session: "Session", value: str) -> str:
    """Set the mode, given by Rookery's name for it or by its own."""
    mode = MODE_OF.get(approvals.id_of(value) or "", value)
    titles = {mode: title for mode, title, _ in MODES}
    if mode in titles:
        session.choose("mode", mode)
        return f"{titles[mode]}, from now on."
    now = f"{approvals.TITLE}: {titles[session.choices.wanted.mode].lower()}."
    why = f"There is no {value!r}. " if value else ""
    return f"{why}{now} Choose one of: {approvals.LISTED}."


def _plan(session: "Session", _: str) -> str:
    session.choose("mode", PLAN)
    return "Plan mode: I read and plan, and change nothing until you say `/go`."


def _go(_session: "Session", _: str) -> str:
    return "Nothing to carry out: this is not plan mode. `/plan` starts it."


def _model(session: "Session", value: str) -> str:
    return _choose(session, "model", value, session.choices.model_names())


def _choose(session: "Session", option: str, value: str, known: Sequence[str]) -> str:
    wanted: str = getattr(session.choices.wanted, option)
    listed = ", ".join(f"`{each}`" for each in known)
    if not value:
        return f"The {option} is `{wanted}`. There are: {listed}."
    try:
        session.choose(option, value)
    except UnknownChoice as error:
        return f"{error}"
    return f"The {option} is now `{value}`."


def _servers(session: "Session", _: str = "") -> str:
    if session.record.remote:
        return "MCP servers run on this machine, so a conversation elsewhere has none."
    conversation = session.running
    names = list(conversation.agent.mcp_config)
    if not names:
        return "No MCP servers. To add one: rookery mcp add"
    return "\n".join(["MCP servers:", *(f"- {name}: {_server(session, name)}" for name in names)])


def _server(session: "Session", name: str) -> str:
    """Return a server's tools, as the model calls them, or why there are none."""
    conversation = session.running
    if conversation.connections is not None and (why := conversation.connections.state(name)):
        return why
    tools = getattr(conversation.agent, "_tools", None) or {}
    own = [each for each in session.tool_names.given(name) if each in tools]
    return ", ".join(f"`{each}`" for each in own) or "no tools"


def _skills(session: "Session", _: str = "") -> str:
    """List everything that was found for the model: what it reads, and the hooks."""
    called = skills_of(session.running)
    parts = {
        "Skills": list(map(_skill, called)),
        "Instructions": [f"- {_place(session, each)}" for each in instructions_of(session.running)],
        "Hooks": [] if session.record.remote else _hooks(session),
        "MCP servers": [f"- {name}" for name in session.running.agent.mcp_config],
    }
    sections = [f"{title}:\n" + "\n".join(lines) for title, lines in parts.items() if lines]
    nothing = [] if called else ["No skills in this directory or your home."]
    return "\n\n".join(nothing + sections)


def _place(session: "Session", skill: Skill) -> str:
    place = skill.source or skill.name
    inside = os.path.relpath(place, session.record.cwd) if os.path.isabs(place) else place
    return place if inside.startswith(os.pardir) else inside


def _hooks(session: "Session") -> list[str]:
    try:
        own, project = hooks.load(session.models.home, session.record.cwd)
    except SettingsError as error:  # it names the file; the session goes on with what it had
        return [f"- {error}"]
    now = session.running.project_hooks
    theirs = Counter(hook.kind for hook in project.file.hooks) if project.file else Counter[str]()
    origin = "the project's" if project.trusted or now.trusted else "the project's, not trusted"
    return [
        *(f"- {kind}: {len(own[kind])}" for kind in own),
        *(f"- {kind}: {count}, {origin}" for kind, count in theirs.items()),
    ]


def _cost(session: "Session", _: str = "") -> str:
    metrics = session.running.conversation_stats.get_combined_metrics()
    usage = metrics.accumulated_token_usage
    cost = metrics.accumulated_cost  # 0 if no list has the model's price
    lines = [f"Cost: {money(cost)}" if cost else "Cost: unknown for this model"]
    if usage is not None:
        lines.append(f"Tokens in: {usage.prompt_tokens} ({usage.cache_read_tokens} from a cache)")
        lines.append(f"Tokens out: {usage.completion_tokens}")
    return "\n".join(f"- {line}" for line in lines)


def _goal(session: "Session", rest: str) -> str:
    """Show the goal. One that is given begins a turn (`Turn.play`), unless one runs."""
    if rest:
        return "Wait until the turn has ended, or cancel it first."
    if session.record.goal:
        objective = lenient.text(session.record.goal, "objective")
        return f"The goal: {objective}"
    return "No goal yet. Set one: `/goal all tests pass`"


def _start_over(session: "Session", _: str = "") -> str:
    conversation = session.running
    branch = conversation.state.active_branch()
    first = next((event for event in branch if isinstance(event, SystemPromptEvent)), None)
    conversation.navigate_to(first.id if first is not None else None)
    return "Started over: the model no longer sees what was said before."


def _rewind(session: "Session", rest: str) -> str:
    count = int(rest) if rest.isdecimal() and int(rest) > 0 else 1
    conversation = session.running
    branch = conversation.state.active_branch()
    is_prompt = [isinstance(each, MessageEvent) and each.source == "user" for each in branch]
    prompts = [place for place, is_one in enumerate(is_prompt) if is_one][-count:]
    if not prompts:
        return "Nothing to undo."
    conversation.navigate_to(branch[prompts[0] - 1].id if prompts[0] else None)
    taken = len(prompts)
    label = "your last prompt" if taken == 1 else f"your last {taken} prompts"
    return f"Undid {label}. Files are unchanged."


def _condense(session: "Session", _: str = "") -> str:
    before = len(session.running.state.view.events)
    try:
        session.running.condense()
    except NoCondensationAvailableException:
        session.drop_request()
    except FAILURES as error:
        session.drop_request()
        raise failure_of(error) from error
    after = len(session.running.state.view.events)
    if after >= before:
        return "The conversation is too short to condense."
    return f"Condensed: the model now sees {after} events instead of {before}."


def _fork(session: "Session", _: str) -> str:
    made = session.fork(session.record.cwd, session.record.roots)
    return f"Forked to session {made.id} ({made.title})"


def _title(session: "Session", _: str) -> str:
    return session.running.generate_title(max_length=store.TITLE)


class Command(NamedTuple):
    name: str
    about: str
    run: Callable[["Session", str], str]
    """With what follows it; the answer."""
    hint: str = ""
    """What may follow it."""
    changes: bool = False
    """It changes what a running turn depends on, and blocks."""


COMMANDS = (
    Command("help", "List the commands and skills.", _help),
    Command("new", "Start over: the model forgets this conversation.", _start_over, changes=True),
    Command("clear", "Same as /new.", _start_over, changes=True),
    Command("condense", "Summarise the conversation to shorten it.", _condense, changes=True),
    Command(
        "confirm",
        "Show or set approvals: ask always, ask when risky, approve all, plan.",
        _confirm,
        "mode",
    ),
    Command("plan", "Plan first: nothing is changed until you say /go.", _plan, "what to plan"),
    Command("go", "Leave plan mode and carry out the plan.", _go, "every, risky or all"),
    Command("model", "Show or switch the model.", _model, "profile"),
    Command("mcp", "List the MCP servers and their tools.", _servers),
    Command("skills", "List the skills, instructions, hooks and MCP servers.", _skills),
    Command("cost", "Show this session's tokens and cost.", _cost),
    Command("rewind", "Undo your last prompt and everything after it.", _rewind, "how many", True),
    Command("goal", "Work until a judge finds the goal reached.", _goal, "what to reach"),
    Command("fork", "Fork this session from here.", _fork, changes=True),
    Command("title", "Set the title, or let the model choose one.", _title, "title", True),
)
BY_NAME = {command.name: command for command in COMMANDS}
