"""Programs that run other commands: `sudo`, `xargs`, `find -exec`, `ssh host`, `bash -c`. Those
that take only options before the command are in a table; the others have parsers of their own
(`ways`)."""

from collections.abc import Iterator, Sequence

from rookery.core.command_line import syntax
from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.syntax import Inner, Simple, Word, listed, options_table
from rookery.core.command_line.ways import WAYS

_PREFIXES = options_table("""
sudo: -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --role --type --chdir --chroot
    --other-user --close-from --command-timeout
doas: -u -C -a
pkexec: --user
exec: -a
nice: -n --adjustment
ionice: -c -n -t --class --classdata
timeout gtimeout: -k -s --kill-after --signal
time: -f -o --format --output
stdbuf: -i -o -e --input --output --error
setpriv: --reuid --regid --groups --inh-caps --ambient-caps --bounding-set
chrt: -T -P -D
numactl: -N -m -C -i -p --cpunodebind --membind --physcpubind --interleave
cpulimit: -l -p -e --limit
unshare: -S -G -R -w --setuid --setgid --root --wd
nsenter: -t -S -G -N --target --setuid --setgid
strace: -e -o -p -s -u -E -a -b -I -O -S -X -P -U
ltrace: -e -o -p -s -u -a -n -x -l
fakeroot: -l -s -i -b
xvfb-run: -e -f -n -p -s -w
systemd-run: -p -u -H -M -E --property --unit --description --slice --uid --gid --setenv
    --working-directory --on-active --on-calendar --service-type --machine --host
systemd-inhibit: --what --who --why --mode
caffeinate: -t -w
proxychains proxychains4: -f
ssh-agent: -a -t -E -P
sshpass: -p -f -P
npx bunx: -p --package
uvx: --from --with --python -p
rlwrap: -f -H -s -C
wsl: -d -u
env: -u -C -S --unset --chdir --split-string
command builtin nohup setsid taskset chroot valgrind firejail dbus-run-session torsocks unbuffer:
setarch busybox toybox catchsegv cross-env pnpx entr faketime direnv microk8s k3s rke2:
""")
"""Wrappers whose command stands behind their options; here, the options that take a value."""

_OWN_OPERANDS = dict.fromkeys(listed("timeout gtimeout chrt taskset chroot setarch faketime"), 1)
_OWN_OPERANDS["direnv"] = 2
_ASSIGNING = listed("sudo doas cross-env env")
"""Wrappers that take `A=b` before the command."""

_RUNNERS = options_table("""
poetry pipenv pdm hatch pipx conda op doppler rustup flatpak rtk: run
bundle asdf rbenv pyenv aws-vault chamber: exec
uv: run tool/run
npm mise: exec x
pnpm yarn: exec dlx
bun: x run
perf: stat record trace
""")
"""Subcommands behind which another program stands; behind their `--` where there is one."""

_BINARIES = frozenset({"yarn", "pnpm", "bun"})
_OWN_WORDS = listed(
    "add audit cache config create dedupe dlx exec global i import info init install link list ls "
    "outdated owner pack prune publish rb rebuild remove rm run store tag team test un uninstall "
    "unlink up update upgrade version why workspace x"
)
"""Subcommands of the programs that run an installed program by its name."""

_RUNNER_VALUES = listed("-n -p --name --package --python --with --group --only -C")

_SCRIPTS = options_table("""
su runuser: -c --command --session-command
script flock vagrant: -c --command
sg: -c
npm npx: -c --call
nix-shell: --run --command
gcloud: --command
xterm: -e
nodemon: -x --exec
hyperfine: -p --prepare -c --cleanup
ansible: -a --args
""")
"""Options whose value is a script."""

_RUN_BY_NAME = listed(
    "GIT_SSH_COMMAND GIT_SSH GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF "
    "GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER EDITOR VISUAL BROWSER LESSOPEN PROMPT_COMMAND "
    "SUDO_ASKPASS"
)
"""Variables whose value another program runs."""

_REMOTE = frozenset({"vagrant", "gcloud", "ansible"})


WRAPPERS = frozenset(_PREFIXES) | frozenset(WAYS)
"""Programs that are there to run others."""


def inner_of(command: Simple) -> Iterator[Inner]:
    """Yield the commands that a command runs, as far as its words show them."""
    program, rest = command.program, command.tokens[1:]
    for word in command.assigned:
        name, _, value = word.text.partition("=")
        if name in _RUN_BY_NAME:
            yield Inner(script=value)
    if program in syntax.SHELLS:
        yield from _of_shell(rest)
        return
    if options := _SCRIPTS.get(program, ()):
        for each in Arguments(rest, options).values(*options):
            yield Inner(script=each.text, remote="host" if program in _REMOTE else "")
    if program in _PREFIXES:
        yield from _of_prefix(program, rest)
        return
    if program in _RUNNERS:
        yield from _of_runner(program, rest)
    if way := WAYS.get(program) or WAYS.get(program.rstrip(".0123456789")):
        yield from way(program, rest)


def _of_prefix(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    values = _PREFIXES[program]
    if program == "command" and rest and rest[0].text in ("-v", "-V"):
        return
    if program == "env":
        for each in Arguments(rest, values).values("-S", "--split-string"):
            yield Inner(script=each.text)
    place = first_operand(rest, values, _OWN_OPERANDS.get(program, 0))
    while place < len(rest) and (
        (program in _ASSIGNING and syntax.ASSIGNMENT.match(rest[place].text))
        or (program == "time" and rest[place].text == "!")
    ):
        place += 1
    if place < len(rest):
        yield Inner(rest[place:])
    elif program in ("sudo", "doas"):  # a shell of that user
        yield syntax.FROM_INPUT


def _of_runner(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, values_of(program))
    for verbs in _RUNNERS[program]:
        subcommands = verbs.split("/")
        if [word.text for word in rest[place : place + len(subcommands)]] == subcommands:
            behind = rest[place + len(subcommands) :]
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
    """Yield `bash -c SCRIPT`, a script on the input, or the output of a command as a script."""
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
        yield syntax.FROM_INPUT
    elif rest[place].is_file:
        yield Inner(tokens=[rest[place]], script="")
