"""The tool descriptions for the model, in place of the SDK's: each says what a call does and what
would fail. The working directory is in the system prompt alone, so that a provider's cache can
share the tools among directories."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from rookery.core.json import Json

PATH = "Absolute, or relative to the working directory."
FOLDER = "Directory to search; the working directory if left out."
SPOKEN = frozenset({"finish", "think"})
"""Ways to speak, which a model has without tools: one that calls tools is not told of them, but may
call them."""

SHARED = {
    "security_risk": "Security risk levels",
    "summary": "A concise summary (approximately 10 words)",
}
"""How the SDK's words of the arguments begin that it gives every tool; ours are in the system
prompt."""


class Words(NamedTuple):
    about: str
    arguments: Mapping[str, str] = {}
    """Those that need more than their name."""


DECLARED = {
    "terminal": Words(
        """\
Run a command in a persistent shell: its directory, variables and virtual environments last. One \
command at a time: join several with `&&` or `;`. Do not use `set -e`, which can end the shell.
A command that has no output for 30 seconds, or takes longer than `timeout`, is left running, as \
the result says: read on with an empty command, or send it input. Start what runs forever in the \
background with its output in a file: `python3 app.py > server.log 2>&1 &`. Long output is \
truncated. Prefer absolute paths to `cd`; check that a directory exists before you create files in \
it.""",
        {
            "command": "With `is_input`: a line for the running command, or a key: C-c, C-d, C-z "
            "(any C-<letter>), ENTER, TAB, ESC, BS, UP, DOWN, LEFT, RIGHT, HOME, END, PGUP, PGDN.",
            "is_input": "Send `command` to the running command, not to the shell.",
            "timeout": "Seconds to wait: more for installations and tests.",
            "reset": "Begin a new shell, if this one no longer answers: variables and running "
            "commands are lost. Not with `is_input`.",
        },
    ),
    "file_editor": Words(
        """\
View, create and edit text files.
- view: a file with its line numbers{images}, or a directory two levels deep.
- create: a new file with `file_text`. It must not exist yet.
- str_replace: put `new_str` in place of `old_str`, which must match exactly one place in the \
file, with all whitespace: give 3 to 5 lines around the change. Without `new_str`, it is removed.
- insert: put `new_str` after line `insert_line`.
- undo_edit: take back the last edit of the file.
View a file before you edit it, and leave it working. Send several edits of one file as several \
calls in one message. Long output is truncated.""",
        {
            "path": "Absolute path of a file or directory.",
            "view_range": "First and last line, from 1: [11, 12]; [11, -1] shows all from line 11.",
        },
    ),
    "apply_patch": Words(
        """\
Change files by a patch, all of them or none:
*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ def area(self):
 a line before
-old line
+new line
 a line after
*** Add File: src/new.py
+each line
*** Delete File: src/old.py
*** End Patch
Give 3 lines around each change as they are in the file, and `@@` lines with a class or function \
where these occur more than once. `Move to` only to rename. Paths are relative, in the working \
directory.""",
    ),
    "read_file": Words(
        "Read a file. Of a large one you get a part, and how to go on.",
        {"file_path": PATH, "offset": "First line, from 0.", "limit": "Number of lines."},
    ),
    "write_file": Words(
        "Write a whole file: a new one, or in place of all that it held. For less, use `edit`.",
        {"file_path": PATH},
    ),
    "edit": Words(
        """\
Replace text in a file. Read the file first. `old_string` must match exactly, with all whitespace, \
and as often as `expected_replacements` says, or nothing is changed: give 3 to 5 lines around the \
change. An empty `old_string` creates a new file.""",
        {"file_path": PATH, "expected_replacements": "1 if left out."},
    ),
    "list_directory": Words(
        "List a directory with hidden files: kind, size and time of each entry.",
        {"dir_path": PATH, "recursive": "Two levels deep."},
    ),
    "grep": Words(
        "Find files by content: their paths, newest first, at most 100.",
        {
            "pattern": "A regular expression.",
            "path": FOLDER,
            "include": 'Only these files: "*.js", "*.{ts,tsx}".',
        },
    ),
    "glob": Words(
        "Find files by name: their paths, newest first, at most 100.",
        {"pattern": 'For example "src/**/*.ts" or "**/*.{json,yaml}".', "path": FOLDER},
    ),
    "task_tracker": Words(
        """\
The task list of work in several steps, which the user sees. Not for a single or trivial step. \
`plan` replaces the whole list with `task_list`, `view` shows it. Have one task in_progress at a \
time. Set it to done at once, but only when it is: not while tests fail or a part is missing. Add \
what turns up, drop what is obsolete.""",
    ),
    "task": Words(
        """\
Let a sub-agent do a separate piece of work and report: explore unfamiliar code, run long tests, \
carry out a part of the task. Not what a single command answers, and no single edit. It does not \
know this conversation: say exactly what to do, with paths, names and error messages, and what to \
report. Check results that are a matter of judgement.
Types:
{types}""",
        {
            "description": "3 to 5 words.",
            "subagent_type": "general-purpose if left out.",
            "resume": "Id of an earlier task to go on with.",
        },
    ),
}
TYPES = {
    "bash-runner": "runs commands (tests, builds, git) and reports only what matters",
    "code-explorer": "explores code and reports paths, lines and snippets",
    "general-purpose": "reads and edits code and runs commands",
    "web-researcher": "looks things up in a browser",
}
"""The SDK's own sub-agents, shorter."""

_TYPE = re.compile(r"^- \*\*(?P<name>.+?)\*\*: (?P<about>.*?)(?P<tools> \(tools: .*\))?$", re.M)


def describe(name: str, theirs: str) -> str:
    """Describe a tool. `theirs`: the SDK's text; its parts about this conversation are kept."""
    about = DECLARED[name].about
    if name == "file_editor":
        return about.format(images=", an image" if "image file" in theirs else "")
    if name == "task":
        return about.format(types="\n".join(map(_sub_agent, _TYPE.finditer(theirs))) or "- none")
    return about


def _sub_agent(match: re.Match[str]) -> str:
    name, tools = match["name"], match["tools"] or ""
    return f"- {name}: {TYPES.get(name, match['about'])}{tools}"


def shortened(schema: Json, declared: Words | None) -> Json:
    """Return the schema with our descriptions of its arguments. `declared` None: with the tool's
    own, except for those arguments that every tool has."""
    arguments = {}
    for name, about in (schema.get("properties") or {}).items():
        if declared is not None:
            arguments[name] = _with_words(about, declared.arguments.get(name, ""))
        else:
            is_shared = str(about.get("description", "")).startswith(SHARED.get(name, "\0"))
            arguments[name] = _with_words(about, "") if is_shared else about
    return {**schema, "properties": arguments}


def _with_words(schema: Json, description: str) -> Json:
    """Return a schema with this description, and none for the schemas in it."""
    stripped = {key: value for key, value in schema.items() if key != "description"}
    if "items" in stripped:
        stripped["items"] = _with_words(stripped["items"], "")
    if "properties" in stripped:
        stripped["properties"] = {k: _with_words(v, "") for k, v in stripped["properties"].items()}
    return stripped | ({"description": description} if description else {})
