"""Recognising read-only command lines: each command is known to change nothing with the options it
is given. Anything unclear or unknown counts as a change; the user, not this list, decides on
running that."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from rookery.core.command_line import shell
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import Simple, Word, listed, options_table

UNCLEAR = "only plain commands can be read for sure: no variables, substitutions or redirections"

_ANY = listed("""
basename cat cksum cmp column comm cut df diff dirname du echo egrep expand false fgrep fold free
getent grep groups head hexdump id jq join ls lsblk lscpu md5sum nl nproc od paste printenv ps pwd
readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum stat strings tac tail
tr true type uname uptime wc which whoami
""")
"""Programs that change nothing, whatever they are given."""

_EXCEPT = options_table("""
fd fdfind: -x -X --exec --exec-batch
file: -C --compile
rg: --pre --hostname-bin
sort: -o -T --output --temporary-directory --compress-program
tree: -o -R --output
""")
"""Programs that change nothing without these."""

_VERSIONS = listed("""
bash clang cmake deno docker gcc git java make mypy node npm npx perl php pip pip3 podman python
python3 ruby ruff tsc uv
""")
"""Programs that only say their version. Others install it first, where the directory asks for one
(cargo, go, rustc), or run what lies there (pnpm, pytest, yarn)."""
_VERSION = ("--version", "-V")

_GIT = listed("""
annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files
diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list
rev-parse shortlog show show-branch show-ref status version whatchanged
""")
_GIT_WRITES = ("--output", "--ext-diff", "--open-files-in-pager", "--filters", "-O")
_GIT_LISTS: Mapping[str, str] = {
    "branch": r"( -[arv]| -vv| --(all|remotes|show-current|verbose|list)| --(sort|format)=\S+)*",
    "config": r" (--list|-l|list)| (--get|--get-all|--get-regexp|get) \S+",
    "reflog": r"( show( [^\s-]\S*)?)?",
    "remote": r"( -v| --verbose| get-url \S+)?",
    "stash": r" list| show( -p| --patch| --stat)*( stash@\{\d+\})?",
    "submodule": r" status",
    "tag": r"( -l| --list| -n\d*| --(sort|format)=\S+)*",
    "worktree": r" list( --porcelain)?",
}
"""Subcommands that look in these forms only."""

_FIND_ACTS = ("-exec", "-ok", "-delete", "-fprint", "-fls")
_SED = re.compile(
    r"\s*(\d+|\$|/[^/]*/)?\s*(,\s*(\+?\d+|\$|/[^/]*/))?\s*[p=q]\s*(;\s*\d*(,\d+)?[pq=]\s*)*"
)
_ISO = re.compile(r"-I(date|hours|minutes|seconds|ns)?")
_COUNTS = re.compile(r"%[^%a-zA-Z]*[hlLjzt]*n")
_AWK_ACTS = re.compile(r"system|getline|[|>@]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_BRACES = re.compile(r"\{\S*(,|\.\.)\S*\}")
_AT = re.compile(r"@\{[^{},]*\}")
"""A reference of git's, such as `HEAD@{1}`."""
_HISTORY = re.compile(r"!(?![\s=(]|$)|^\s*\^")
"""History expansions: an interactive shell would replace them by an earlier line."""
_GLOBS = "*?["
_SYSTEM = ("", "/bin/", "/usr/bin/", "/usr/local/bin/")
"""Where a program is: by its name alone, or there."""


@lru_cache(maxsize=8)
def change_in(text: str) -> str:
    """Return what in a line may change something, in a few words; "" if it is read-only."""
    parts = None if _HISTORY.search(text) else shell.plain_parts(text)
    if parts is None:
        return UNCLEAR
    return next(filter(None, map(_change_in_part, parts)), "")


def _change_in_part(part: str) -> str:
    line = read(part)
    if not line.whole or not line.commands or not line.commands[0].tokens:
        return UNCLEAR
    if _BRACES.search(_AT.sub("", _QUOTED.sub("", part))):
        return "braces may stand for anything: write out what they stand for"
    command = line.commands[0]
    name = command.tokens[0]
    program = command.program
    if len(line.commands) > 1 or command.assigned or command.redirects or command.here:
        return f"{program or part} runs or sets something else"
    if not name.certain or name.text.removesuffix(program) not in _SYSTEM:
        return f"{name.text} is no program of the system"
    return _change_by(command, program)


def _change_by(command: Simple, program: str) -> str:
    args = command.tokens[1:]
    if program in _ANY or (len(args) == 1 and program in _VERSIONS and args[0].text in _VERSION):
        return ""
    if any(_may_be_option(word) for word in args):
        return f"a pattern may become an option of {program}: begin it with ./"
    if program in _EXCEPT:
        return _given(program, args, _EXCEPT[program])
    if check := _CHECKS.get(program):
        return check(args)
    return f"{program} is not known to only look"


def _may_be_option(word: Word) -> bool:
    """Whether the shell may expand the word to one that begins with a dash."""
    return not word.certain and word.text[:1] in ("-", *_GLOBS)


def _given(program: str, args: Sequence[Word], refused: Sequence[str]) -> str:
    """Return the complaint about a refused option, also one abbreviated or among other letters; ""
    if none is given."""
    for text in (word.text for word in args):
        name = text.partition("=")[0]
        for option in refused:
            if option.startswith("--"):
                matches = len(name) > 2 and option.startswith(name)
            else:
                matches = text[:1] == "-" and text[1:2] != "-" and option[1] in text
            if matches:
                return f"{program} {option} does more than look"
    return ""


def _git(args: Sequence[Word]) -> str:
    rest = [word.text for word in args]
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and len(rest) > 1:
            rest = rest[2:]
        elif rest[0] in ("--no-pager", "-P", "--no-optional-locks", "--version"):
            rest = rest[1:]
        else:
            return f"git {rest[0]} does more than look"
    if not rest:
        return ""
    name, given = rest[0], rest[1:]
    if name in _GIT:
        own = args[len(args) - len(given) :]
        refused = _GIT_WRITES if name == "grep" else _GIT_WRITES[:-1]
        return _given(f"git {name}", own, refused)
    form = _GIT_LISTS.get(name)
    if form is not None and re.fullmatch(form, "".join(f" {each}" for each in given)):
        return ""
    return f"git {name} is not known to only look"


def _find(args: Sequence[Word]) -> str:
    acts = (word.text for word in args if word.text.startswith(_FIND_ACTS))
    return next((f"find {each} does more than look" for each in acts), "")


def _sed(args: Sequence[Word]) -> str:
    """Accept only `sed -n` with commands that print."""
    given = [word.text for word in args]
    flags = [text for text in given if text.startswith("-")]
    scripts = [text for text in given if not text.startswith("-")][:1]
    if (
        "-n" in flags
        and set(flags) <= {"-n", "-E", "-r"}
        and scripts
        and _SED.fullmatch(scripts[0])
    ):
        return ""
    return "sed does more than print lines (only sed -n '1,9p' is read for sure)"


def _awk(args: Sequence[Word]) -> str:
    given = [word.text for word in args]
    while given and given[0].startswith("-F"):
        given = given[1 if len(given[0]) > 2 else 2 :]
    is_plain = bool(given) and not any(text.startswith("-") for text in given)
    return "" if is_plain and not _AWK_ACTS.search(given[0]) else "awk does more than print"


def _uniq(args: Sequence[Word]) -> str:
    """Refuse a second operand: uniq writes to it. A lone dash, and what follows `--`, is a file,
    too."""
    options = [word for word in args if word.text.startswith("-") and word.text.strip("-")]
    operands = [word for word in args if word not in options]
    is_one = len(operands) <= 1 and all(word.certain for word in args) and "--" not in _texts(args)
    return "" if is_one else "uniq writes to its second file"


def _texts(args: Sequence[Word]) -> list[str]:
    return [word.text for word in args]


def _cd(args: Sequence[Word]) -> str:
    """Accept only a named directory, not home or the previous one: later commands would read from
    there."""
    given = [text for text in _texts(args) if text not in ("-P", "-L", "--")]
    is_one = len(given) == 1 and not given[0].startswith("-") and args[-1].certain
    return "" if is_one else "cd needs the directory's name"


def _date(args: Sequence[Word]) -> str:
    """Refuse an operand that is not a format: it sets the clock."""
    takes = ("-d", "-ud", "--date", "-r", "--reference")
    given = _texts(args)
    for before, text in zip(("", *given), given, strict=False):
        if not text.startswith(("-", "+")) and before not in takes:
            return "date sets the clock"
    rest = [word for word in args if not _ISO.fullmatch(word.text)]
    return _given("date", rest, ("-s", "--set"))


def _printf(args: Sequence[Word]) -> str:
    """Refuse `-v` and `%n`: they set a variable of the shell."""
    sets = any(_COUNTS.search(text) or text.startswith("-") for text in _texts(args))
    return "printf may set a variable" if sets else ""


def _test(args: Sequence[Word]) -> str:
    """Refuse tests of variables: the shell evaluates their operand."""
    about = any(text in ("-v", "-R") for text in _texts(args))
    return "test -v evaluates what it is given" if about else ""


def _only_looked_up(args: Sequence[Word]) -> str:
    return "" if args and args[0].text in ("-v", "-V") else "command runs another one"


_CHECKS: Mapping[str, Callable[[Sequence[Word]], str]] = {
    "cd": _cd,
    "date": _date,
    "printf": _printf,
    "test": _test,
    "git": _git,
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "uniq": _uniq,
    "command": _only_looked_up,
    "env": lambda tokens: "env sets something or runs another command" if tokens else "",
    "hostname": lambda tokens: "hostname sets the name" if tokens else "",
}
