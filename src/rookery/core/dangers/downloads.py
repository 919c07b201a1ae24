"""Programs that run what was downloaded or decoded a moment ago: nobody has read it."""

from collections.abc import Iterator

from rookery.core.command_line.arguments import Arguments, values_of
from rookery.core.command_line.words import SHELLS, Line, Simple, listed

_LOADERS = listed("curl wget fetch aria2c http https xh lwp-request lynx")
_DECODERS = frozenset({"base64", "base32", "xxd", "openssl", "uudecode", "gpg", "tr", "rev"})
_INTERPRETERS = SHELLS | listed(
    "python python2 python3 perl ruby node nodejs php deno bun lua osascript pwsh powershell tclsh "
    "Rscript julia iex"
)
_READERS = frozenset({"eval", "source", "."})
_RUNS = "runs what it downloads"
_DECODES = "runs what it decodes"
MOST = 300


def judge(line: Line) -> str:
    """What one command of a line loads and another one runs."""
    commands = line.commands
    if not any(each.program in _LOADERS or each.program in _DECODERS for each in commands):
        return ""
    saved: set[str] = set()
    for command in commands[:MOST]:
        if command.program in _LOADERS:
            saved |= set(_saved(command))
        elif why := _judge_one(command, commands, saved):
            return why
    return ""


def _judge_one(command: Simple, commands: tuple[Simple, ...], saved: set[str]) -> str:
    name = command.program.rstrip(".0123456789") or command.program
    runs = command.program in _INTERPRETERS or name in _INTERPRETERS
    if not runs and command.program not in _READERS:
        return "runs what it downloaded" if _plain(command.argv[:1]) & saved else ""
    sources = {place for word in command.words[1:] for place in word.made_by}
    if _reads_input(command) if runs else "/dev/stdin" in command.argv[1:]:
        sources.update(command.fed_by)
        if command.here is not None:
            sources.update(command.here.word.made_by)
    for each in _behind(sources, commands):
        if each.program in _LOADERS:
            return f"{_RUNS} ({each.program} | {command.program})"
        if each.program in _DECODERS and _decodes(each):
            return f"{_DECODES} ({each.program} | {command.program})"
    operands = [word.text for word in command.words[1:] if not word.text.startswith("-")]
    return "runs what it downloaded" if _plain(operands[:2]) & saved else ""


def _reads_input(command: Simple) -> bool:
    """A script file or `-c` makes the input its data."""
    words = [word.text for word in command.words[1:]]
    if command.program in SHELLS:
        if any(w.startswith("-") and not w.startswith("--") and "c" in w for w in words[:4]):
            return False
        operands = [w for w in words if w[:1] not in ("-", "+")]
        return not operands or "-s" in words or "-" in words or "/dev/stdin" in words
    codes = {"-c", "-e", "-E", "-r", "-m", "-p", "--eval", "-n", "-ne", "-pe", "-lne", "-ane"}
    if codes & set(words):
        return False
    operands = [w for w in words if not w.startswith("-") or w == "-"]
    return not operands or operands[0] in ("-", "/dev/stdin")


def _decodes(command: Simple) -> bool:
    words = set(command.argv[1:])
    return command.program in ("tr", "rev", "uudecode") or bool(
        words & {"-d", "-D", "--decode", "-r", "-di", "--decrypt"}
    )


def _behind(places: set[int], commands: tuple[Simple, ...]) -> Iterator[Simple]:
    """These commands, what they run, and what feeds them."""
    waiting, seen = list(places), set[int]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        command = commands[place]
        yield command
        waiting += [*command.fed_by, *command.children]
        waiting += [each for word in command.words for each in word.made_by]


def _saved(command: Simple) -> Iterator[str]:
    """The files that a download leaves."""
    arguments = Arguments(command.words[1:], values_of(command.program))
    names = [word.text for word in arguments.values("-o", "-O", "--output", "--output-document")]
    names += [each.target.text for each in command.redirects if each.writes]
    addresses = [word.text for word in arguments.operands]
    if (command.program == "wget" and not names) or (
        command.program == "curl" and arguments.has("-O", "--remote-name", "-J")
    ):
        folder = arguments.value("-P", "--directory-prefix", "--output-dir")
        before = folder.rstrip("/") + "/" if folder else ""
        names += [before + each.partition("?")[0].rpartition("/")[2] for each in addresses]
    yield from (name for name in _plain(names) if name not in ("-", "", "/dev/null", "null"))


def _plain(names: list[str]) -> set[str]:
    return {name.removeprefix("./") for name in names}
