"""Explaining what a call would do, as our own parser reads it: which files it touches, which
network hosts, whose code it runs, and what cannot be undone. It states what it knows and what it
does not know; it never vouches for a call."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rookery.core.command_line import read_only
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import SHELLS, Simple, Word, listed, options_table
from rookery.core.dangers import places, tables, writes
from rookery.core.dangers.places import Ground
from rookery.core.json.safe_text import clean_line
from rookery.core.policy.rules import Call

MAX_ITEMS = 6
"""How many things one line names."""
MAX_ITEM_LENGTH = 80
"""How many characters of a thing are shown."""
LINES = 12

READS, WRITES, DELETES, MOVES, CHANGES = "Reads", "Writes", "Deletes", "Moves", "Changes"
CONNECTS, SENDS, RUNS = "Connects to", "Sends data to", "Runs code that is not shown here:"
RIGHTS, ELSEWHERE, UNKNOWN = "With other rights:", "Elsewhere:", "Not known to Rookery:"
_ORDER = (DELETES, WRITES, MOVES, CHANGES, READS, SENDS, CONNECTS, ELSEWHERE, RIGHTS, RUNS, UNKNOWN)
_KINDS = {"edit": WRITES, "delete": DELETES, "move": MOVES, "read": READS, "search": READS}

LOOKS = "Only looks: it changes nothing."
UNREAD = "Part of it cannot be read: it is too long, too deeply nested, or no shell's syntax."
FREE = "What it does depends on a variable, a substitution or a pattern."
NOTHING = "Nothing is known about what it does."
TOOL = "An MCP server's tool: what it does is not known here."

_DELETING = listed("rm unlink rmdir shred srm wipe")
_READING = listed(
    "cat head tail less more wc sort uniq cut nl tac stat file diff cmp comm md5sum sha1sum "
    "sha256sum xxd od strings hexdump source . bat paste join base64 column fold tee"
)
_SEARCHING = listed("grep egrep fgrep rg ag sed gsed awk gawk jq yq")
"""Programs whose first operand is no file."""
_COPYING = listed("cp mv install ln rsync scp")
_QUIET = listed(
    "ls cd pwd echo printf true false test [ : tree du df which type date uname whoami id ps env "
    "export set unset find fd basename dirname realpath readlink seq sleep wait kill pkill mkdir "
    "touch chmod chown tar gzip gunzip zip unzip zstd dd truncate xargs parallel tr rev git exit "
    "return read local declare if then else fi for do done while case esac eval trap time timeout "
    "nice nohup command exec builtin patch tmux screen"
)
"""Programs about which the other lines say all."""

_NETWORK = options_table("""
curl wget http https xh aria2c lynx ftp sftp ssh scp mosh nc ncat telnet ping dig nslookup host:
gh glab aws gcloud az gsutil s3cmd kubectl oc helm terraform tofu ansible heroku vercel flyctl:
git: push pull fetch clone ls-remote submodule
npm pnpm yarn bun: install i ci add update upgrade publish audit login dlx create init exec
npx uvx pipx:
pip pip3: install download
uv poetry pdm conda mamba: install add sync lock update publish run tool pip
cargo: install update publish fetch add search build run test check
go: get install mod build run test
docker podman nerdctl: pull push login build run compose
gem bundle composer: install update push publish require
apt apt-get dnf yum apk brew pacman snap: install update upgrade add
rustup nvm pyenv: install update
""")
"""Programs that reach the network: always, or with these subcommands."""
_SENDING = options_table("""
curl: -d --data --data-raw --data-binary --data-urlencode -F --form -T --upload-file --json
wget: --post-data --post-file --body-data --body-file
""")
_SENT = {("git", "push"), ("npm", "publish"), ("pnpm", "publish"), ("yarn", "publish")}
_SENT |= {("cargo", "publish"), ("docker", "push"), ("podman", "push"), ("gem", "push")}

_RUNNING = options_table("""
make gmake just task rake ninja ctest tox nox pytest jest vitest mocha gradle mvn bazel npx uvx:
npm pnpm yarn bun: run test start exec install i ci rebuild
cargo: run test build bench check install
go: run test generate build install
pip pip3 uv poetry: install run sync
docker podman nerdctl: run build compose exec
python python2 python3 node nodejs deno ruby perl php lua julia Rscript java:
""")
"""Programs that run code of the project or of packages: always, or with these subcommands."""
_CHANGING = {"git": "the repository", "chmod": "rights", "chown": "rights", "chgrp": "rights"}
_CHANGING |= dict.fromkeys(("kill", "pkill", "killall"), "running processes")
_RIGHTS = listed("sudo doas su pkexec runuser")


_HOST = re.compile(r"(:\d{0,5})?([/?#].*)?$", re.DOTALL)
"""Matches what follows the host in an address."""


_ADDRESS = re.compile(r'"url": "https?://([^"\\]+)"')


class Effect(NamedTuple):
    does: str
    what: str


def explained(calls: Sequence[Call], *, guarded: bool = False) -> list[str]:
    """Return a line for each thing that these calls would do, what cannot be undone first.
    `guarded`: the ask already says so itself, and says what only a rewind brings back."""
    effects, plain = list[Effect](), True
    notes: dict[str, None] = {}
    for call in calls:
        ground = Ground(call.roots, call.home, place=call.place)
        for text in dict.fromkeys(each.whole for each in call.commands if each.whole):
            plain = plain and not read_only.change_in(text)
            effects += _of_line(text, ground)
            notes |= dict.fromkeys(_notes(text))
        if call.kind != "execute":
            plain = False
            effects += _of_tool(call, ground)
            if call.named and call.tools and call.tools[0].startswith("mcp__"):
                notes[TOOL] = None
    final = [
        f"Cannot be undone: it {call.danger}." for call in calls if call.danger and not guarded
    ]
    plain = plain and not any(call.danger or call.risk for call in calls)
    if plain and any(each.whole for call in calls for each in call.commands):
        notes[LOOKS] = None
    return [*dict.fromkeys(final), *_lines(effects), *notes][:LINES] or (
        [] if guarded else [NOTHING]
    )


def _lines(effects: Iterable[Effect]) -> Iterator[str]:
    groups: dict[str, dict[str, None]] = {}
    for effect in effects:
        if what := clean_line(effect.what)[:MAX_ITEM_LENGTH]:
            groups.setdefault(effect.does, {})[what] = None
    for does in _ORDER:
        if things := list(groups.get(does, ())):
            more = f" and {len(things) - MAX_ITEMS} more" if len(things) > MAX_ITEMS else ""
            yield f"{does} {', '.join(things[:MAX_ITEMS])}{more}"


def _notes(text: str) -> Iterator[str]:
    line = read(text)
    if not line.whole:
        yield UNREAD
    if any(not word.certain for command in line.commands for word in command.tokens):
        yield FREE


# --- what a tool is given ------------------------------------------------------------------------


def _of_tool(call: Call, ground: Ground) -> Iterator[Effect]:
    if does := _KINDS.get(call.kind):
        yield from (Effect(does, _short(path, ground)) for path in call.given)
    elif call.kind == "fetch":
        yield Effect(CONNECTS, _host_in(call.arguments) or "the network")


def _host_in(arguments: str) -> str:
    """Return the host of the address in a tool's arguments; "" if none is known."""
    match = _ADDRESS.search(arguments)
    return _HOST.sub("", match[1]).rpartition("@")[2] if match else ""


# --- what a line does ----------------------------------------------------------------------------


def _of_line(text: str, ground: Ground) -> Iterator[Effect]:
    for command in read(text).commands:
        if not command.tokens:
            continue
        program, rest = command.program, _operands(command)
        label = " ".join([command.tokens[0].text, *rest[:1]])
        if command.remote:
            where = "in a container" if command.remote == "container" else "on another machine"
            yield Effect(ELSEWHERE, f"{label} {where}")
            continue
        if program in _RIGHTS:
            yield Effect(RIGHTS, program)
            continue
        yield from _files(command, ground)
        does = "" if command.code else _reached(program, rest, command)
        if does:
            yield Effect(does, _peer(command, label))
        if program in _CHANGING and read_only.change_in(" ".join(command.argv)) and not does:
            yield Effect(CHANGES, f"{_CHANGING[program]} ({label})")
        if _runs(command, rest):
            yield Effect(RUNS, label)
        elif not does and not _is_known(command):
            yield Effect(UNKNOWN, label)
    yield from _redirected(text, ground)


def _redirected(text: str, ground: Ground) -> Iterator[Effect]:
    for command in read(text).commands:
        for redirect in command.redirects:
            if redirect.operator == "<" and not command.remote:
                yield Effect(READS, _path(redirect.target, command, ground))
            elif redirect.writes and not command.tokens:  # `> file` alone
                yield Effect(WRITES, _path(redirect.target, command, ground))


def _operands(command: Simple) -> list[str]:
    """Return the command's words that are neither options nor their values."""
    return [word.text for word in tables.arguments_of(command).operands]


def _files(command: Simple, ground: Ground) -> Iterator[Effect]:
    program = command.program
    does = DELETES if program in _DELETING else WRITES
    moved = program == "mv"
    written = list(writes.targets(command))[: 1 if moved else None]
    yield from (Effect(does, _path(word, command, ground)) for word in written)
    for word in tables.arguments_of(command).values(*_SENDING.get(program, ())):
        if (name := word.text.rpartition("@")[2]) != word.text or word.text[:1] in "./~":
            yield Effect(READS, _path(word._replace(text=name), command, ground))
    operands = writes.arguments_of(command).operands
    if program in _SEARCHING:
        operands = operands[1:]
    elif program in _COPYING:
        operands = operands[:-1]
    elif program not in _READING:
        operands = []
    for word in operands:
        if word not in written:
            yield Effect(MOVES if moved else READS, _path(word, command, ground))


def _path(word: Word, command: Simple, ground: Ground) -> str:
    path = writes.resolved(word.text, command, ground) if word.certain else None
    if path is None:
        return word.text
    return "" if places.is_sink(path) else _short(path, ground)


def _short(path: str, ground: Ground) -> str:
    for root in ground.roots:
        if root != "/" and places.is_below(path, root):
            return path[len(root) :].lstrip("/") or "."
    return f"~{path[len(ground.home) :]}" if places.is_below(path, ground.home or "/\0") else path


def _reached(program: str, rest: Sequence[str], command: Simple) -> str:
    """Return CONNECTS or SENDS; "" if it reaches no network, as far as we know."""
    if program == "rsync":
        return SENDS if rest and ":" in rest[-1] else CONNECTS if ":" in "".join(rest) else ""
    if program == "scp" and rest and ":" in rest[-1]:
        return SENDS
    if program not in _NETWORK or (_NETWORK[program] and not set(rest[:2]) & {*_NETWORK[program]}):
        return ""
    sends = program in _SENDING and tables.arguments_of(command).has(*_SENDING[program])
    return SENDS if sends or (program, *rest[:1]) in _SENT else CONNECTS


def _peer(command: Simple, label: str) -> str:
    """Return the host that a command's words name; otherwise the command itself."""
    operands = _operands(command)
    if (
        command.program == "git"
        and len(operands) > 1
        and "://" not in operands[1]
        and "@" not in operands[1]
    ):
        return f"{operands[1]} ({label})"
    for text in operands:
        if "://" in text:
            return _HOST.sub("", text.partition("://")[2]).rpartition("@")[2] or text
        head, colon, _ = text.partition(":")
        if command.program in ("ssh", "mosh", "scp", "rsync", "sftp", "git") and (
            "@" in head or (colon and command.program in ("scp", "rsync"))
        ):
            return head.rpartition("@")[2]
        if command.program in ("ssh", "mosh", "ping", "telnet", "nc", "ncat", "curl", "wget"):
            return text
    return f"the network ({label})"


def _runs(command: Simple, rest: Sequence[str]) -> bool:
    program = command.program
    if "/" in command.tokens[0].text and command.tokens[0].text.startswith((".", "~")):
        return True
    if program in SHELLS:
        return not command.children and bool(rest)
    if program not in _RUNNING or command.code:
        return False
    return not _RUNNING[program] or bool(set(rest[:2]) & {*_RUNNING[program]})


def _is_known(command: Simple) -> bool:
    program = command.program
    known = (_QUIET, _READING, _SEARCHING, _COPYING, _DELETING, SHELLS, _NETWORK, _RUNNING)
    named = any(program in names for names in known) or program in writes.OUTPUTS
    return named or bool(command.code) or not read_only.change_in(" ".join(command.argv))
