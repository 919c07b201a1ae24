"""The skills and instructions of a session: text for the model. We run nothing in them.

Besides what the SDK finds (AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .agents, .openhands),
these are what projects keep for Claude Code and Copilot."""

import os
import re
import shlex
from pathlib import Path

from openhands.sdk.skills import Skill, load_available_skills, load_skills_from_dir

from rookery.agent.sdk_patches.skills import texts
from rookery.home import paths

OWN = ("~/.openhands/skills", "{home}/skills")
"""The user's, besides those that the SDK finds (~/.agents/skills). A project's win."""
CLAUDE = os.path.join(".claude", "skills")
COMMANDS = os.path.join(".claude", "commands")
COPILOT = os.path.join(".github", "copilot-instructions.md")
MAX_COPILOT_LENGTH = 10_000
"""Characters of Copilot's instructions, which are in every prompt."""
MOST_COMMANDS = 200
_ARGUMENTS = re.compile(r"\$(?:ARGUMENTS\b|([1-9])(?!\d))")


def found_in(cwd: str) -> dict[str, Skill]:
    """Return the skills by name. Those of the directory win over those of its repository, and these
    over the user's. Reads files; public skills, from the network, are not fetched."""
    user = os.path.expanduser("~")
    by_name = _commands(user) | _of_claude(user)
    by_name |= load_available_skills(None, include_user=True)
    for folder in OWN:
        place = os.path.expanduser(folder.format(home=paths.home()))
        if os.path.isdir(place):
            for skills in load_skills_from_dir(place):
                by_name |= skills
    roots = _roots(cwd)
    for root in reversed(roots):
        by_name |= _copilot(root) | _commands(root) | _of_claude(root)
    return by_name | {
        name: skill
        for name, skill in load_available_skills(cwd, include_project=True).items()
        if len(skill.content)
        <= texts.MAX_TEXT_LENGTH + len(texts.CUT)  # a nested AGENTS.md is read whole
        and (skill.source is None or texts.is_within(skill.source, roots))
    }


def filled(skill: Skill, arguments: str) -> str:
    """Return a skill's text, filled in with what the user wrote after its name; in a command of
    Claude Code's also `$1` to `$9`, if anything was written: in other texts these belong to some
    shell script."""
    tokens: list[str] | None = None
    if arguments and f"{os.sep}{COMMANDS}{os.sep}" in (skill.source or ""):
        tokens = _tokens(arguments)

    def argument(match: re.Match[str]) -> str:
        if match[1] is None:
            return arguments
        if tokens is None:
            return match[0]
        return tokens[int(match[1]) - 1] if int(match[1]) <= len(tokens) else ""

    return _ARGUMENTS.sub(argument, skill.content)


def _tokens(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a quote that is not closed: an apostrophe
        return arguments.split()


def _roots(cwd: str) -> list[str]:
    """Return the directory, and the repository around it."""
    above = next((each for each in (Path(cwd), *Path(cwd).parents) if (each / ".git").exists()), "")
    return list(dict.fromkeys([cwd, str(above or cwd)]))


def _of_claude(root: str) -> dict[str, Skill]:
    place = os.path.join(root, CLAUDE)
    if not os.path.isdir(place):
        return {}
    return load_skills_from_dir(place, strict=False, root=Path(root))[2]  # SKILL.md alone


def _commands(root: str) -> dict[str, Skill]:
    """Read the commands of Claude Code, for the user alone: the model is not told about them."""
    place = Path(root, COMMANDS)
    commands: dict[str, Skill] = {}
    for path in sorted(place.rglob("*.md"))[:MOST_COMMANDS] if place.is_dir() else []:
        if (text := _read(path, root)) is None:
            continue
        about, body = _parted(text)
        commands[path.stem] = Skill(
            name=path.stem,
            content=body,
            description=about or f"A command of {COMMANDS}.",
            source=str(path),
            is_agentskills_format=True,
            disable_model_invocation=True,
        )
    return commands


def _copilot(root: str) -> dict[str, Skill]:
    path = Path(root, COPILOT)
    text = (_read(path, root) or "").strip()
    if not text:
        return {}
    name = path.stem
    return {name: Skill(name=name, content=text[:MAX_COPILOT_LENGTH], source=str(path))}


def _read(path: Path, root: str) -> str | None:
    """Read a file; None if it does not exist or is a link that leads out of the directory."""
    try:
        return texts.beginning(path) if texts.is_within(path, [root]) else None
    except OSError:
        return None


def _parted(text: str) -> tuple[str, str]:
    """Split a command's file into the description in its front matter, and the command."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return "", text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    if not end:
        return "", text
    fields = (line.partition(":") for line in lines[1:end])
    about = next((value for key, _, value in fields if key.strip() == "description"), "")
    return about.strip().strip("\"'"), "\n".join(lines[end + 1 :]).strip()
