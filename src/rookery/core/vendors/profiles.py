"""The particulars of each vendor's agent in one table, so that no other file names a vendor.

Behaviour that was not observed is left generic. A command to clear counts only if the agent
advertises it, a tool's alias only if the agent has no kind for it."""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.core.header import Header
from rookery.core.json import Json
from rookery.core.vendors import detection


class Profile(NamedTuple):
    files: bool = False
    """It profits from our `fs/*`: offer them."""
    terminals: bool = False
    output_offered: bool = False
    """It sends what its commands print as terminals, with their exit codes, where we say that we
    read `_meta.terminal_output`; else as text of the call."""
    takes_reasons: bool = False
    """A reason given with a rejection reaches its model."""
    async_agents: bool = False
    """It may launch agents that work on without a word."""
    background: bool = False
    """It may start commands in the background."""
    wake_ups: bool = False
    """It may go to sleep and wake by itself."""
    reports: tuple[str, ...] | None = None
    """What it tells of its use: tokens, cost; None: not known."""
    cost_ends: bool = False
    """Usage with cost comes once, when the model is done, and not after each of its steps."""
    cost_restarts: bool = False
    """Its cost begins at zero with each process, also where it goes on with a conversation."""
    clear: tuple[str, ...] = ()
    """Its own commands that clear the conversation, without the slash."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Its tools by name, and the kind that each is of: where it says no better than `other`."""
    writes_input: bool = False
    """Until a call has ended, the text in its content is its input, as its model writes it."""
    tool_name: tuple[str, str] = ("", "")
    """Where in `_meta` the tool's own name stands."""
    parent: tuple[str, str] = ("", "")
    """Where in `_meta` a sub-agent's call names the call that it belongs to."""
    mcp: tuple[str, ...] = ()
    """What the names of tools from MCP servers begin with: `mcp__server__tool`."""
    plan_mode: bool = False
    """It asks to leave its plan mode, and brings the plan (ExitPlanMode)."""
    todos: bool = False
    """It writes lists of what is to do (TodoWrite)."""
    skills: bool = False
    modes: tuple[tuple[str, str], ...] = ()
    """Known modes (id, name), where the agent itself reports none."""
    confirms: tuple[tuple[str, str], ...] = ()
    """Which of its modes is which of ours: every, risky, all."""
    plans: str = ""
    """Its mode in which the worker lets it change nothing."""
    plain: tuple[str, ...] = ()
    """Its tools that do nothing by themselves: what a sub-agent does is judged by itself."""
    judged: bool = False
    """The worker judges every action of it, whatever its mode."""
    never_asks: bool = False
    takes_servers: bool = True
    """It is given MCP servers unless configured otherwise (`[agents.NAME] mcp`)."""
    exit_words: str = ""
    """How the text of a command's result says its exit code, where nothing else does."""
    own_servers: tuple[tuple[str, ...], ...] = ()
    """MCP servers that it brings (name, program, arguments) and has no tools without: it wants each
    of them handed to it by its client."""
    own_tmux: bool = False
    """Its commands run in a tmux server, which all of its processes would share."""
    resends: bool = True
    """Where it cannot go on by itself with what it had asked, its prompt is sent once more while
    nothing of the turn has run."""
    keeps: tuple[str, ...] = ()
    """What it reads and writes in the user's home (docs/sandbox.md): a directory ends with a slash,
    and is made where it is missing."""
    keeps_key: bool = False
    """It takes an API key with `authenticate`, and saves it."""
    system_prompt: str = ""
    """What the thought begins with that is no thought, but the prompt of its own system."""
    approves_with: str = ""
    """What must be in its environment before it takes the mode that approves all."""


OURS = Profile(files=True, terminals=True, clear=("clear",))

_OPENHANDS_CONFIRMS = (
    ("every", "always-ask"),
    ("risky", "risk-based"),
    ("risky", "llm-approve"),
    ("all", "always-approve"),
)

_CLAUDE_MODES = (
    ("default", "Default"),
    ("plan", "Plan"),
    ("acceptEdits", "Accept edits"),
    ("bypassPermissions", "Yolo"),
)

_CLAUDE_TOOLS = (
    *(("Bash", "execute"), ("Read", "read"), ("Glob", "search"), ("Grep", "search")),
    *((name, "edit") for name in ("Edit", "MultiEdit", "NotebookEdit", "Write")),
    *(("WebFetch", "fetch"), ("WebSearch", "fetch")),
)

_OPENCODE_TOOLS = (("bash", "execute"), ("write", "edit"), ("edit", "edit"), ("read", "read"))

_TABLE = {
    "demo": OURS,
    "rookery": Profile(  # it has files and a terminal of its own
        output_offered=True,
        takes_reasons=True,
        clear=("clear",),
        plain=("task",),
        parent=("rookery", "parentToolUseId"),
        confirms=_OPENHANDS_CONFIRMS,
        plans="plan",
        judged=True,
    ),
    "claude": Profile(
        output_offered=True,
        async_agents=True,
        background=True,
        wake_ups=True,
        cost_ends=True,
        cost_restarts=True,
        clear=("clear", "new"),
        aliases=_CLAUDE_TOOLS,
        tool_name=("claudeCode", "toolName"),
        parent=("claudeCode", "parentToolUseId"),
        mcp=("mcp__",),
        plan_mode=True,
        todos=True,
        skills=True,
        modes=_CLAUDE_MODES,
        confirms=(("every", "default"), ("risky", "auto"), ("all", "bypassPermissions")),
        approves_with="ALLOW_BYPASS=1",
        keeps=("~/.claude/", "~/.claude.json"),
    ),
    "codex": Profile(
        reports=("tokens",),
        keeps_key=True,
        keeps=("~/.codex/",),
        clear=("clear", "new"),
        confirms=(("every", "read-only"), ("risky", "agent"), ("all", "agent-full-access")),
    ),
    "gemini": Profile(
        reports=("tokens",),
        clear=("clear",),
        confirms=(("every", "default"), ("all", "yolo")),
        keeps=("~/.gemini/",),
    ),
    "opencode": Profile(
        clear=("new", "clear"),
        aliases=_OPENCODE_TOOLS,
        keeps=(
            *("~/.config/opencode/", "~/.local/share/opencode/"),
            *("~/.local/state/opencode/", "~/.cache/opencode/"),
        ),
    ),
    "qwen": Profile(
        reports=(),
        clear=("clear",),
        confirms=(("every", "default"), ("risky", "auto"), ("all", "yolo")),
        keeps=("~/.qwen/",),
    ),
    "vibe": Profile(confirms=(("every", "ask"),), keeps=("~/.vibe/",)),
    "openhands": Profile(
        confirms=_OPENHANDS_CONFIRMS,
        own_tmux=True,
        keeps=("~/.openhands/",),
        system_prompt="System Prompt:\n",
    ),
    "crow": Profile(
        never_asks=True,
        clear=("clear",),
        own_servers=(("crow-mcp", "crow-cli", "mcp"),),
        keeps=("~/.agents/crow/",),
    ),
    "swival": Profile(
        never_asks=True,
        clear=("clear",),
        exit_words=r"\AExit code: (\d{1,3})\n",
        takes_servers=False,  # given any, it makes no session
        keeps=("~/.config/swival/",),
    ),
    "pi": Profile(never_asks=True, keeps=("~/.pi/",)),
    "hermes": Profile(
        clear=("reset",),
        mcp=("mcp__",),
        confirms=(("every", "default"), ("risky", "accept_edits")),
        keeps=("~/.hermes/",),
        exit_words=(
            r"(?s)\Aterminal result\n(?:.*\n)?- \*\*exit_code:\*\* (\d{1,3})"
            r"(?=\n- \*\*approval|\s*\Z)"
        ),
    ),
    "kimi": Profile(
        reports=("tokens",),
        writes_input=True,
        mcp=("mcp__",),
        confirms=(("every", "default"), ("risky", "auto"), ("all", "yolo")),
        keeps=("~/.kimi-code/",),
    ),
    "deepagents": Profile(never_asks=True, keeps=("~/.deepagents/",)),
    "dcode": Profile(keeps=("~/.deepagents/",)),  # of deepagents' makers; it asks
}

SYSTEM_PROMPTS = tuple(each.system_prompt for each in _TABLE.values() if each.system_prompt)
"""How agents begin that tell theirs as a thought."""


def profile_of(name: str, argv: Sequence[str], info: Json | None = None) -> Profile:
    """Return the profile of the agent that a command starts, by the name it reports; `name`: the
    session's name for it."""
    profile = _TABLE.get(detection.vendor_of(name, argv, info), Profile())
    return profile._replace(files=True, terminals=True) if detection.is_player(argv) else profile


def at_address(profile: Profile, offers: Sequence[str]) -> Profile:
    """Return the profile for an agent on another machine: it uses what is there, and of this
    machine only what the user allows. MCP servers are started where it runs, so it gets none of
    ours by default."""
    files, terminals = "files" in offers, "terminals" in offers
    return profile._replace(files=files, terminals=terminals, takes_servers=False)


def profile_for(header: Header) -> Profile:
    """Return the profile of a session's agent."""
    return vendor_profile(header.vendor)


def vendor_profile(vendor: str) -> Profile:
    return _TABLE.get(vendor, Profile())


def offers_of(profile: Profile) -> Json:
    """Return the client capabilities that we announce to an agent in `initialize`."""
    return {
        "fs": {"readTextFile": profile.files, "writeTextFile": profile.files},
        "terminal": profile.terminals,
        "elicitation": {"form": {}, "url": {}},
        "plan": {},
        "subagents": {},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "auth": {"terminal": True, "_meta": {"terminal-auth": True}},
        "_meta": {
            "subagent-transcript": True,  # who knows no sessions of sub-agents
            "rookery": {"judge": True, "hooks": True},  # core.policy: auto_answer, hook_asks
            "terminal-auth": True,  # core.vendors.logins
            **({"terminal_output": True} if profile.output_offered else {}),  # core.tools.terminals
        },
    }


def known_modes(profile: Profile) -> Json | None:
    """Return the modes as an agent would report them; it starts in the first."""
    if not profile.modes:
        return None
    listed = [{"id": key, "name": name} for key, name in profile.modes]
    return {"currentModeId": profile.modes[0][0], "availableModes": listed}
