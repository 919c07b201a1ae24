"""Rates how risky it is to run a text, with the reason as the end of a sentence: what it deletes,
what it downloads and runs, what cannot be read in it, and words meant to lead a model astray.

Unlike the check for what cannot be undone, it is about any risk, and rates also what is harmless
most of the time; unlike a rule, it counts what is uncertain as a risk."""

import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import SHELLS, Simple, Word, options_table
from rookery.core.dangers import catalogue

LEVELS = ("LOW", "MEDIUM", "UNKNOWN", "HIGH")


class Risk(NamedTuple):
    level: str = "LOW"
    reason: str = ""


DELETES = Risk("HIGH", "it deletes directories with all they contain")
DELETES_SYSTEM = Risk("HIGH", "it deletes a system directory")
DELETES_AS_ROOT = Risk("HIGH", "it deletes files as root")
FORMATS = Risk("HIGH", "it formats a disk")
WRITES_DISK = Risk("HIGH", "it writes to a disk directly")
RUNS_DOWNLOAD = Risk("HIGH", "it runs what it downloads")
HANDS_ON = Risk("HIGH", "it hands a download to another command")
UNREAD = Risk("UNKNOWN", "parts of this command are known only when it runs")

_RUN = (
    (r"\brm(?=.{0,200}?\s-{1,2}\w{0,20}r)(?=.{0,200}?\s-{1,2}\w{0,20}f)", DELETES),
    (r"\bsudo\s+rm\b", DELETES_AS_ROOT),
    (r"\bmkfs\.\w", FORMATS),
    (r"\bdd\b.{0,200}?of=/dev/", WRITES_DISK),
    (r"\b(?:curl|wget)\b[^|]{0,400}\|\s*\w{0,3}sh\b", RUNS_DOWNLOAD),
    (r"\beval\s[^;&|]{0,400}[$`]", UNREAD),
    (r"\beval\s*\(", Risk("HIGH", "it evaluates text as code (eval)")),
    (r"\bexec\s*\(", Risk("HIGH", "it executes text as code (exec)")),
    (r"\bos\.system\s*\(", Risk("HIGH", "its code runs other commands (os.system)")),
    (
        r"\bsubprocess\.(?:call|run|Popen|check_\w{1,9})\s*\(",
        Risk("HIGH", "its code runs other commands (subprocess)"),
    ),
    (r"\bcurl\b.{0,200}?https?://", Risk("MEDIUM", "it talks to a server (curl)")),
    (r"\bwget\b.{0,200}?https?://", Risk("MEDIUM", "it downloads something (wget)")),
)
_SAYS = (
    (
        r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|of|the|your)\s+){0,3}"
        r"(?:previous|prior|above|earlier)\s+(?:instruction|prompt|rule|directive)",
        Risk("HIGH", "its text tells a model to ignore its instructions"),
    ),
    (
        r"\byou\s+are\s+now\s+(?:\w{1,40}\s+){0,2}mode\b",
        Risk("MEDIUM", "its text tells a model to be in another mode"),
    ),
    (
        r"\bpretend\s+(?:you\s+are|to\s+be)\s+(?:a\s+)?(?:different|another)\b",
        Risk("MEDIUM", "its text tells a model to be someone else"),
    ),
)
_HIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u1680\u180b-\u180f\u2009-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffc"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
"""Characters that show nothing: they would hide a word from a search."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_FETCHERS = ("curl", "wget")
_DELETE_OPTIONS = ("-r", "-R", "-f", "-rf", "-fr", "-Rf", "-fR", "--recursive", "--force")
_SHELL_VALUES = ("-o", "-O", "+o", "+O", "--rcfile", "--init-file")
_SYSTEM = re.compile(
    r"(?:(?:of=)?/dev/.*|/|/\*|/(?:etc|usr|var|home|boot)(?:[/*].*)?|~(?:/\.{0,2}(?:/\.\.)*)?)",
    re.I,
)
_USUAL = options_table("""
env: -i -u -C --ignore-environment --unset --chdir
sudo: -E -H -i -n -S -u -g -D --user --group --chdir
timeout: -k -s --foreground --preserve-status --verbose --kill-after --signal
setsid stdbuf: -f -c -w -i -o -e --fork --ctty --wait --input --output --error
time: -p
strace exec command nice: -a -c -l -f -o -e -p -s -v -V -n --adjustment
chroot: --userspec --groups --skip-chdir
builtin nohup busybox toybox:
""")
"""Options of wrappers that do not hide what they run."""


def worst(risks: Iterable[Risk]) -> Risk:
    """Return the highest of them, and of these the first."""
    return max(risks, key=lambda risk: LEVELS.index(risk.level), default=Risk())


def of_run(texts: Sequence[str]) -> Risk:
    """Rate texts that are run, or that may be: a line for a shell, the arguments of a tool."""
    lines = (risk for text in texts for risk in _of_line(text))
    return worst([*lines, *_matches(_RUN, texts)])


def of_words(texts: Sequence[str]) -> Risk:
    """Rate what texts say to a model that reads them."""
    return worst(_matches(_SAYS, texts))


def _matches(table: Sequence[tuple[str, Risk]], texts: Sequence[str]) -> Iterator[Risk]:
    shown = unicodedata.normalize("NFKC", _HIDDEN.sub("", " ".join(texts)))
    plain = re.sub(r"\s+", " ", shown)
    return (risk for pattern, risk in table if re.search(pattern, plain, re.IGNORECASE))


def _of_line(text: str) -> Iterator[Risk]:
    line = read(text)
    commands = [each for each in line.commands if each.tokens]
    exposed = any(each.program in SHELLS or all(_deletes(each.tokens)) for each in commands)
    if not line.whole or _SURROGATES.search(text) or (exposed and not _is_closed(text)):
        yield UNREAD
    if why := catalogue.judge_downloads(line):
        yield Risk("HIGH", f"it {why.partition(' (')[0]}")
    for command in commands:
        yield from _of_command(command, line.commands)
        yield from _of_sources(command, line.commands)


def _is_closed(text: str) -> bool:
    """Tell whether each quote ends."""
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def _of_command(command: Simple, commands: Sequence[Simple]) -> Iterator[Risk]:
    program, rest = command.program.casefold(), command.tokens[1:]
    deletes = _deletes([Word(word.text) for word in rest if word.certain or _is_glob(word)])
    is_system = any(_SYSTEM.fullmatch(word.text) for word in rest)
    is_known = all(word.certain for word in rest)
    if not command.tokens[0].certain and (all(deletes) or is_system or command.via in _USUAL):
        yield UNREAD
    if program == "rm":
        if all(deletes):
            yield DELETES_SYSTEM if is_system else DELETES
        if command.via in ("sudo", "doas"):
            yield DELETES_AS_ROOT
        if all(_deletes(rest)) or (is_system and not is_known):
            yield UNREAD
    elif program == "mkfs" or program.startswith("mkfs."):
        yield FORMATS
    elif program == "dd":
        if any(word.text.casefold().startswith("of=/dev/") for word in rest):
            yield WRITES_DISK
        if not is_known:
            yield UNREAD
    elif program == "eval" or program in SHELLS:
        script = rest if program == "eval" else _script_of(rest)
        here = command.here.word if command.here else Word("")
        if not all(word.certain and _is_closed(word.text) for word in (here, *script)):
            yield UNREAD
    elif program in _USUAL:
        inner = commands[command.children[0]].tokens if command.children else []
        size = len(inner) if inner == command.tokens[-len(inner) :] else 0
        if not all(_is_usual(word, _USUAL[program]) for word in rest[: len(rest) - size]):
            yield UNREAD


def _is_glob(word: Word) -> bool:
    """Tell whether an uncertain word stands for itself where no file matches it."""
    return not word.made_by and "$" not in word.text


def _deletes(tokens: Sequence[Word]) -> tuple[bool, bool]:
    """Tell whether `rm` would delete directories with these arguments, and whether by force; those
    that are known only when it runs count as what they may become."""
    given = set[str]()
    for word in tokens:
        if word.text == "--" and word.certain:
            break
        options = [word.text] if word.certain else _expansions(word.text)
        for text in options:
            if text.startswith("--"):
                given |= {text[2]} if text in ("--recursive", "--force") else set()
            elif text.startswith("-"):
                given |= set(text[1:])
    return bool(given & {"r", "R"}), "f" in given


def _expansions(text: str) -> list[str]:
    """Return the options of `rm` that an uncertain word may become."""
    if text.startswith("-"):
        return ["-rf"]
    return [option for option in _DELETE_OPTIONS if fnmatchcase(option, text)]


def _script_of(rest: Sequence[Word]) -> Sequence[Word]:
    """Return a shell's words up to the script, or its file."""
    operands = Arguments(rest, _SHELL_VALUES).operands[:1]
    return rest[: rest.index(operands[0]) + 1] if operands else rest


def _is_usual(word: Word, usual: Sequence[str]) -> bool:
    """Tell whether a word of a wrapper, before the command that it runs, hides nothing."""
    name = word.text.partition("=")[0]
    letters = name[1:].rstrip("0123456789L")
    known = name in ("-", "--", *usual) or {f"-{each}" for each in letters or "?"} <= {*usual}
    return (word.certain or word.quoted) and (name[:1] != "-" or known)


def _of_sources(command: Simple, commands: Sequence[Simple]) -> Iterator[Risk]:
    """Rate what a command reads from a pipe."""
    sources = list(catalogue.behind(set(command.fed_by), commands))
    if any(each.program.casefold() in _FETCHERS for each in sources):
        yield HANDS_ON
    runs = command.program in SHELLS and catalogue.reads_input(command)
    named = [command, *(commands[place] for place in command.fed_by)]
    unclear = any(each.tokens and not each.tokens[0].certain for each in named)
    scripted = any(each.children and each.program in (*SHELLS, "eval") for each in sources)
    if sources and (runs or unclear or scripted):
        yield UNREAD
    for word in (word for each in sources if runs for word in each.tokens[1:]):
        yield from _of_line(word.text)
