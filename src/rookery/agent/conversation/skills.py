"""The skills and instructions of a session: text for the model. Nothing in them is run by us.

Besides what the SDK finds (AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .agents, .openhands):
what projects keep for Claude Code and Copilot."""

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
LONGEST = 10_000
"""Characters of Copilot's instructions, which are in every prompt."""
MOST_COMMANDS = 200
_ARGUMENTS = re.compile(r"\$(?:ARGUMENTS\b|([1-9])(?!\d))")


def found_in(cwd: str) -> dict[str, Skill]:
    """By name. Those of the directory win over those of its repository, and these over the user's.
    Reads files; public ones, from the network, are not fetched."""
    user = os.path.expanduser("~")
    found = _commands(user) | _of_claude(user)
    found |= load_available_skills(None, include_user=True)
    for folder in OWN:
        place = os.path.expanduser(folder.format(home=paths.home()))
        if os.path.isdir(place):
            for skills in load_skills_from_dir(place):
                found |= skills
    roots = _roots(cwd)
    for root in reversed(roots):
        found |= _copilot(root) | _commands(root) | _of_claude(root)
    return found | {
        name: skill
        for name, skill in load_available_skills(cwd, include_project=True).items()
        if len(skill.content) <= texts.LONGEST + len(texts.CUT)  # a nested AGENTS.md is read whole
        and (skill.source is None or texts.is_within(skill.source, roots))
    }


def filled(skill: Skill, arguments: str) -> str:
    """Its text, with what the user wrote behind its name; in a command of Claude Code's also `$1`
    to `$9`, if anything was written: in other texts these are somebody's shell."""
    words: list[str] | None = None
    if arguments and f"{os.sep}{COMMANDS}{os.sep}" in (skill.source or ""):
        words = _words(arguments)

    def argument(found: re.Match[str]) -> str:
        if found[1] is None:
            return arguments
        if words is None:
            return found[0]
        return words[int(found[1]) - 1] if int(found[1]) <= len(words) else ""

    return _ARGUMENTS.sub(argument, skill.content)


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a quote that is not closed: an apostrophe
        return arguments.split()


def _roots(cwd: str) -> list[str]:
    """The directory, and the repository around it."""
    above = next((each for each in (Path(cwd), *Path(cwd).parents) if (each / ".git").exists()), "")
    return list(dict.fromkeys([cwd, str(above or cwd)]))


def _of_claude(root: str) -> dict[str, Skill]:
    place = os.path.join(root, CLAUDE)
    if not os.path.isdir(place):
        return {}
    return load_skills_from_dir(place, strict=False, root=Path(root))[2]  # SKILL.md alone


def _commands(root: str) -> dict[str, Skill]:
    """For the user alone: the model does not hear of them."""
    place = Path(root, COMMANDS)
    found: dict[str, Skill] = {}
    for path in sorted(place.rglob("*.md"))[:MOST_COMMANDS] if place.is_dir() else []:
        if (text := _read(path, root)) is None:
            continue
        about, body = _parted(text)
        found[path.stem] = Skill(
            name=path.stem,
            content=body,
            description=about or f"A command of {COMMANDS}.",
            source=str(path),
            is_agentskills_format=True,
            disable_model_invocation=True,
        )
    return found


def _copilot(root: str) -> dict[str, Skill]:
    path = Path(root, COPILOT)
    text = (_read(path, root) or "").strip()
    if not text:
        return {}
    name = path.stem
    return {name: Skill(name=name, content=text[:LONGEST], source=str(path))}


def _read(path: Path, root: str) -> str | None:
    """None: there is none, or it is a link that leaves the directory."""
    try:
        return texts.beginning(path) if texts.is_within(path, [root]) else None
    except OSError:
        return None


def _parted(text: str) -> tuple[str, str]:
    """The description in a command's front matter, and the command."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return "", text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    if not end:
        return "", text
    said = (line.partition(":") for line in lines[1:end])
    about = next((value for key, _, value in said if key.strip() == "description"), "")
    return about.strip().strip("\"'"), "\n".join(lines[end + 1 :]).strip()
