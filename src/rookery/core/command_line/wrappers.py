"""Programs that run other commands: `sudo`, `xargs`, `find -exec`, `ssh host`, `bash -c`, …

Each says what it runs as words, or as a script that a shell reads. Those with nothing but options
before the command are a table; the others have a way of their own (`ways`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.ways import WAYS
from rookery.core.command_line.words import (
    ASSIGNMENT,
    FROM_INPUT,
    SHELLS,
    Inner,
    Simple,
    Word,
    listed,
)


class _Prefix(NamedTuple):
    """A wrapper whose command stands behind its options."""

    values: str = ""
    operands: int = 0
    assigns: bool = False


_PREFIXES = {
    "sudo": _Prefix(
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --role --type --chdir "
        "--chroot --other-user --close-from --command-timeout",
        assigns=True,
    ),
    "doas": _Prefix("-u -C -a", assigns=True),
    "pkexec": _Prefix("--user"),
    "command": _Prefix(),
    "builtin": _Prefix(),
    "exec": _Prefix("-a"),
    "nohup": _Prefix(),
    "nice": _Prefix("-n --adjustment"),
    "ionice": _Prefix("-c -n -t --class --classdata"),
    "timeout": _Prefix("-k -s --kill-after --signal", 1),
    "gtimeout": _Prefix("-k -s --kill-after --signal", 1),
    "time": _Prefix("-f -o --format --output"),
    "stdbuf": _Prefix("-i -o -e --input --output --error"),
    "setsid": _Prefix(),
    "setpriv": _Prefix("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set"),
    "chrt": _Prefix("-T -P -D", 1),
    "taskset": _Prefix("", 1),
    "numactl": _Prefix("-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave"),
    "cpulimit": _Prefix("-l -p -e --limit"),
    "chroot": _Prefix("", 1),
    "unshare": _Prefix("-S -G -R -w --setuid --setgid --root --wd"),
    "nsenter": _Prefix("-t -S -G -N --target --setuid --setgid"),
    "strace": _Prefix("-e -o -p -s -u -E -a -b -I -O -S -X -P -U"),
    "ltrace": _Prefix("-e -o -p -s -u -a -n -x -l"),
    "valgrind": _Prefix(),
    "firejail": _Prefix(),
    "fakeroot": _Prefix("-l -s -i -b"),
    "dbus-run-session": _Prefix(),
    "xvfb-run": _Prefix("-e -f -n -p -s -w"),
    "systemd-run": _Prefix(
        "-p -u -H -M -E --property --unit --description --slice --uid --gid --setenv "
        "--working-directory --on-active --on-calendar --service-type --machine --host"
    ),
    "systemd-inhibit": _Prefix("--what --who --why --mode"),
    "caffeinate": _Prefix("-t -w"),
    "torsocks": _Prefix(),
    "proxychains": _Prefix("-f"),
    "proxychains4": _Prefix("-f"),
    "unbuffer": _Prefix(),
    "setarch": _Prefix("", 1),
    "ssh-agent": _Prefix("-a -t -E -P"),
    "sshpass": _Prefix("-p -f -P"),
    "busybox": _Prefix(),
    "toybox": _Prefix(),
    "catchsegv": _Prefix(),
    "cross-env": _Prefix(assigns=True),
    "npx": _Prefix("-p --package"),
    "bunx": _Prefix("-p --package"),
    "pnpx": _Prefix(),
    "uvx": _Prefix("--from --with --python -p"),
    "entr": _Prefix(),
    "rlwrap": _Prefix("-f -H -s -C"),
    "faketime": _Prefix("", 1),
    "env": _Prefix("-u -C -S --unset --chdir --split-string", assigns=True),
    "direnv": _Prefix("", 2),
    "microk8s": _Prefix(),
    "k3s": _Prefix(),
    "rke2": _Prefix(),
}

_RUNNERS = {
    "poetry": ("run",),
    "pipenv": ("run",),
    "uv": ("run", "tool run"),
    "pdm": ("run",),
    "hatch": ("run",),
    "bundle": ("exec",),
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx"),
    "bun": ("x", "run"),
    "yarn": ("exec", "dlx"),
    "pipx": ("run",),
    "conda": ("run",),
    "mise": ("exec", "x"),
    "asdf": ("exec",),
    "rbenv": ("exec",),
    "pyenv": ("exec",),
    "op": ("run",),
    "doppler": ("run",),
    "aws-vault": ("exec",),
    "chamber": ("exec",),
    "rustup": ("run",),
    "flatpak": ("run",),
    "perf": ("stat", "record", "trace"),
    "rtk": ("run",),
}
"""Programs that run the words behind a subcommand; those behind `--` where there is one."""

_BINARIES = frozenset({"yarn", "pnpm", "bun"})
_OWN_WORDS = listed(
    "add audit cache config create dedupe dlx exec global i import info init install link list ls "
    "outdated owner pack prune publish rb rebuild remove rm run store tag team test un uninstall "
    "unlink up update upgrade version why workspace x"
)
"""Of those that run an installed program by its name: their own subcommands."""

_RUNNER_VALUES = listed("-n -p --name --package --python --with --group --only -C")

_SCRIPTS = {
    "su": "-c --command --session-command",
    "runuser": "-c --command --session-command",
    "script": "-c --command",
    "flock": "-c --command",
    "sg": "-c",
    "npm": "-c --call",
    "npx": "-c --call",
    "vagrant": "-c --command",
    "nix-shell": "--run --command",
    "gcloud": "--command",
    "xterm": "-e",
    "entr": "",
    "nodemon": "-x --exec",
    "hyperfine": "-p --prepare -c --cleanup",
    "ansible": "-a --args",
    "rsync": "",
}
"""Options whose value is a script."""

_RUN_BY_NAME = listed(
    "GIT_SSH_COMMAND GIT_SSH GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF "
    "GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER EDITOR VISUAL BROWSER LESSOPEN PROMPT_COMMAND "
    "SUDO_ASKPASS"
)
"""Variables whose value another program runs."""

_REMOTE = frozenset({"vagrant", "gcloud", "ansible"})


WRAPPERS = frozenset(_PREFIXES) | frozenset(WAYS) | {"su"}
"""Programs that are there to run others."""


def inner_of(command: Simple) -> Iterator[Inner]:
    """What a command runs, as far as its words say it."""
    if len(command.words) < 1:
        return
    program, rest = command.program, command.words[1:]
    for word in command.assigned:
        name, _, value = word.text.partition("=")
        if name in _RUN_BY_NAME:
            yield Inner(script=value)
    if program in SHELLS:
        yield from _of_shell(rest)
        return
    if options := _SCRIPTS.get(program, "").split():
        for each in Arguments(rest, options).values(*options):
            yield Inner(script=each.text, remote="host" if program in _REMOTE else "")
    if program in _PREFIXES:
        yield from _of_prefix(program, rest)
    elif program in ("su", "runuser"):
        yield from WAYS[program](program, rest)
        yield FROM_INPUT
    elif program in _RUNNERS:
        yield from _of_runner(program, rest)
    elif way := WAYS.get(program) or WAYS.get(program.rstrip(".0123456789")):
        yield from way(program, rest)


def _of_prefix(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    prefix = _PREFIXES[program]
    if program == "command" and rest and rest[0].text in ("-v", "-V"):
        return
    if program == "env":
        for each in Arguments(rest, prefix.values.split()).values("-S", "--split-string"):
            yield Inner(script=each.text)
    place = first_operand(rest, prefix.values.split(), prefix.operands)
    while place < len(rest) and (
        (prefix.assigns and ASSIGNMENT.match(rest[place].text))
        or (program == "time" and rest[place].text == "!")
    ):
        place += 1
    if place < len(rest):
        yield Inner(rest[place:])
    elif program in ("sudo", "doas"):  # a shell of that user
        yield FROM_INPUT


def _of_runner(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, values_of(program))
    for verbs in _RUNNERS[program]:
        words = verbs.split()
        if [word.text for word in rest[place : place + len(words)]] == words:
            behind = rest[place + len(words) :]
            texts = [word.text for word in behind]
            start = texts.index("--") + 1 if "--" in texts[:20] else 0
            start = start or first_operand(behind, _RUNNER_VALUES)
            if program == "rustup":
                start += 1
            if start < len(behind):
                yield Inner(behind[start:])
    if program in _BINARIES and place < len(rest) and rest[place].text not in _OWN_WORDS:
        yield Inner(rest[place:])


_SHELL_VALUES = frozenset({"-o", "-O", "--rcfile", "--init-file", "+o", "+O"})


def _of_shell(rest: Sequence[Word]) -> Iterator[Inner]:
    """`bash -c SCRIPT`, a script on the input, or the output of a command as a script."""
    place, commanded, reads = 0, False, False
    while place < len(rest) and (text := rest[place].text)[:1] in ("-", "+") and text != "-":
        place += 1
        if text == "--":
            break
        if text.startswith("--"):
            place += text in _SHELL_VALUES
            commanded = commanded or text == "--command"
            continue
        if "n" in text[1:] and text[0] == "-":
            return  # it only checks the syntax
        commanded = commanded or ("c" in text[1:] and text[0] == "-")
        reads = reads or "s" in text[1:]
        place += text[-1] in "oO"
    if commanded:
        place += rest[place].text == "--" if place < len(rest) else 0
        if place < len(rest):
            yield Inner(script=rest[place].text, arguments=rest[place + 1 :])
    elif reads or place >= len(rest) or rest[place].text in ("-", "/dev/stdin"):
        yield FROM_INPUT
    elif rest[place].is_file:
        yield Inner(words=[rest[place]], script="")
