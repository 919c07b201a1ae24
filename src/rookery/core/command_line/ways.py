"""Programs that run other commands, each with a syntax of its own: `find -exec`, `xargs`, `ssh`,
`docker exec`, `git bisect run`; and interpreters and editors whose language can run a shell:
`python -c`, `awk`."""

import re
from collections.abc import Iterator, Sequence

from rookery.core.command_line import foreign_code
from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.syntax import FROM_INPUT, Inner, Word, listed


def _joined(tokens: Sequence[Word]) -> str:
    return " ".join(word.text for word in tokens)


def _eval(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = 1 if rest and rest[0].text == "--" else 0
    yield Inner(script=_joined(rest[place:]))


def _trap(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = 1 if rest and rest[0].text == "--" else 0
    if len(rest) > place + 1 and rest[place].text not in ("-", "-l", "-p"):
        yield Inner(script=rest[place].text)


def _source(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    if rest and rest[0].is_file:
        yield Inner(tokens=[rest[0]], script="")
    elif rest and rest[0].text == "/dev/stdin":
        yield FROM_INPUT


def _watch(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, ("-n", "--interval", "-q", "--equexit"))
    yield Inner(script=_joined(rest[place:]))


def _flock(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, ("-w", "--timeout", "-E", "--conflict-exit-code"), 1)
    if place < len(rest) and rest[place].text not in ("-c", "--command"):
        yield Inner(rest[place:])


def _user(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the command of `runuser -u me -- git push`, `sg docker 'docker ps'`."""
    if program == "sg":
        place = first_operand(rest, (), 1)
        if place < len(rest) and rest[place].text != "-c":
            yield Inner(script=_joined(rest[place:]))
    elif any(word.text in ("-u", "--user") or word.text.startswith("--user=") for word in rest):
        yield Inner(rest[first_operand(rest, ("-u", "--user", "-g", "-G", "-s")) :])
    if program != "sg":
        yield FROM_INPUT


def _xargs(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    values = "-a -d -E -I -L -n -P -s --arg-file --delimiter --replace --max-args --max-procs"
    place = first_operand(rest, [*values.split(), "--max-lines", "--max-chars"])
    if place < len(rest):
        yield Inner(rest[place:], own_input=False)


def _parallel(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    values = "-j -n -N -P -a -S -I -C -d --jobs --arg-file --colsep --delimiter --max-args"
    place = first_operand(rest, [*values.split(), "--sshlogin", "--results", "--joblog"])
    texts = [word.text for word in rest]
    ends = [at for at in range(place, len(rest)) if texts[at].startswith(":::")]
    tokens = rest[place : ends[0]] if ends else rest[place:]
    if tokens:
        yield Inner(script=_joined(tokens), own_input=False)
    else:
        yield from (Inner(script=text) for text in texts[place + 1 :])


def _find(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = 0
    while place < len(rest):
        if rest[place].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = place + 1
            while end < len(rest) and rest[end].text not in (";", "+"):
                end += 1
            if end > place + 1:
                yield Inner(rest[place + 1 : end], own_input=False)
            place = end
        place += 1


def _fd(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    for place, word in enumerate(rest):
        if word.text in ("-x", "-X", "--exec", "--exec-batch") and place + 1 < len(rest):
            yield Inner(rest[place + 1 :], own_input=False)
            return


def _ssh(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the script after the host, which the remote shell reads."""
    values = values_of("ssh")
    options = Arguments(rest, values).values("-o")
    for each in options:
        name, _, value = each.text.replace(" ", "=", 1).partition("=")
        if name.lower() in ("proxycommand", "localcommand", "knownhostscommand"):
            yield Inner(script=value)
    place = first_operand(rest, values, 1)
    if place < len(rest):  # more options may stand behind the host
        place += first_operand(rest[place:], values)
    if place < len(rest):
        yield Inner(script=_joined(rest[place:]), remote="host")
    elif program == "ssh":
        yield FROM_INPUT._replace(remote="host")


def _container(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the command of `docker exec NAME cmd`, `docker run IMAGE cmd`, `docker compose exec
    SERVICE cmd`."""
    place = first_operand(rest, values_of(program))
    if place < len(rest) and rest[place].text in ("compose", "container"):
        place += 1 + first_operand(rest[place + 1 :], values_of("compose"))
    yield from _in_container(rest[place:])


_CONTAINER_VALUES = listed(
    "-e -u -w -v -p -l -h -m -a --env --user --workdir --volume --publish --name --network "
    "--net --entrypoint --label --hostname --memory --cpus --mount --env-file --add-host "
    "--platform --restart --device --gpus --link --dns --ip --ipc --pid --shm-size --tmpfs "
    "--ulimit --userns --cap-add --cap-drop --security-opt --log-driver --log-opt --index "
    "--detach-keys --pull"
)


def _in_container(rest: Sequence[Word]) -> Iterator[Inner]:
    if not rest or rest[0].text not in ("exec", "run"):
        return
    behind = rest[1:]
    entry = Arguments(behind, _CONTAINER_VALUES).value("--entrypoint")
    place = first_operand(behind, _CONTAINER_VALUES, 1)
    tokens = [*([Word(entry)] if entry else []), *behind[place:]]
    if tokens:
        yield Inner(tokens, remote="container")


def _behind_dashes(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the command of `kubectl exec POD -- cmd`, `lxc exec NAME -- cmd`."""
    texts = [word.text for word in rest]
    verb = first_operand(rest, values_of(program))
    if texts[verb : verb + 1] not in (["exec"], ["run"], ["debug"], ["shell"], ["ssh"]):
        return
    if "--" in texts:
        yield Inner(rest[texts.index("--") + 1 :], remote="container")
    elif program in ("adb", "kubectl", "oc", "lxc", "incus", "multipass"):
        place = verb + 1 if program == "adb" else verb + 2
        yield Inner(script=_joined(rest[place:]), remote="container")


def _tmux(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the text that is sent to a shell there, or started in a new window."""
    values = listed("-t -c -n -s -x -y -F -e -L -S -f -l -N -b")
    names = {"send-keys", "send", "new-session", "new", "new-window", "neww", "split-window"}
    names |= {"splitw", "run-shell", "run", "respawn-pane", "if-shell", "stuff"}
    for place, word in enumerate(rest):
        if word.text in names:
            behind = rest[place + 1 :]
            keys = ("Enter", "C-m", "KPEnter")
            tokens = [w for w in behind[first_operand(behind, values) :] if w.text not in keys]
            yield Inner(script=_joined(tokens))
            return


_GIT_RUNS = listed(
    "core.pager core.editor core.sshcommand core.fsmonitor core.askpass diff.external "
    "sequence.editor credential.helper gpg.program pager.log pager.diff"
)
"""Settings whose value git runs."""


def _git(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    values = values_of("git")
    place = first_operand(rest, values)
    if place >= len(rest):
        return
    verb, behind = rest[place].text, rest[place + 1 :]
    for each in Arguments(rest[:place], values).values("-c"):
        name, _, value = each.text.partition("=")
        if name.lower() in _GIT_RUNS:
            yield Inner(script=value)
        if name == f"alias.{verb}":
            if value.startswith("!"):
                yield Inner(script=f"{value[1:]} {_joined(behind)}")
            else:
                yield Inner([Word("git"), *map(Word, value.split()), *behind])
    match verb:
        case "submodule":
            texts = [word.text for word in behind]
            if "foreach" in texts:
                tokens = behind[texts.index("foreach") + 1 :]
                yield Inner(script=_joined(tokens[first_operand(tokens) :]))
        case "bisect" if behind and behind[0].text == "run":
            yield Inner(behind[1:])
        case "rebase" | "difftool" | "filter-branch":
            options = listed(
                "-x --exec --extcmd --tree-filter --index-filter --msg-filter --env-filter "
                "--commit-filter --parent-filter"
            )
            for each in Arguments(behind, options).values(*options):
                yield Inner(script=each.text)


def _tar(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    arguments = Arguments(rest, values_of("tar"))
    for each in arguments.values("--to-command", "-I", "--use-compress-program", "-F"):
        yield Inner(script=each.text)
    for each in arguments.values("--checkpoint-action"):
        if each.text.startswith("exec="):
            yield Inner(script=each.text.removeprefix("exec="))


def _at(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    if not {"-l", "-d", "-r", "-c", "-f"} & {word.text for word in rest}:
        yield FROM_INPUT


def _cmd(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the script after `/c` or `-Command` of a Windows shell."""
    for place, word in enumerate(rest):
        if word.text.lower() in ("/c", "/k", "-c", "-command", "-commandwithargs"):
            yield Inner(script=_joined(rest[place + 1 :]))
            return


def _concurrently(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    values = ("-n", "--names", "-c", "--prefix-colors", "-p", "--prefix", "-m", "--max-processes")
    yield from (Inner(script=each.text) for each in Arguments(rest, values).operands)


def _code(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the code of `python -c` or `perl -e`, code on the input, a module, or a script by its
    name."""
    language = foreign_code.language_of(program)
    options = foreign_code.OPTIONS[language]
    place = first_operand(rest, [*options, *foreign_code.VALUES])
    before = Arguments(rest[:place], [*options, *foreign_code.VALUES])
    codes = before.values(*options)
    for each in codes:
        yield Inner(script=each.text, language=language)
    if language == "python" and before.values("-m"):
        texts = [word.text for word in rest]
        own = texts.index("-m") if "-m" in texts[:place] else -1  # what follows is the module's
        yield Inner(rest[own + 1 :] if own >= 0 else [before.values("-m")[0], *rest[place:]])
    elif codes:
        return
    elif place < len(rest) and rest[place].is_file:
        yield Inner(tokens=[rest[place]], script="", language=language)
    elif place >= len(rest) or rest[place].text in ("-", "/dev/stdin"):
        yield FROM_INPUT._replace(language=language)
    else:
        yield Inner(rest[place:])


def _make(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the recipes of a makefile, whether on the input or among the arguments."""
    options = ("-f", "--file", "--makefile", "--eval", "-E")
    arguments = Arguments(rest, (*values_of(program), *options))
    for each in arguments.values("--eval", "-E"):
        yield Inner(script=each.text, language="make")
    for each in arguments.values("-f", "--file", "--makefile"):
        if each.text in ("-", "/dev/stdin"):
            yield FROM_INPUT._replace(language="make")
        elif each.is_file:
            yield Inner(tokens=[each], script="", language="make")


def _evaluated(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the code of `deno eval CODE`, `bun -e CODE`."""
    if rest and rest[0].text == "eval":
        rest = [Word("-e"), *rest[1:]]
    if rest and rest[0].text in ("-e", "--eval", "-p", "--print", "-"):
        yield from _code(program, rest)


def _awk(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, ("-F", "-v", "-f"))
    if place < len(rest):
        yield Inner(script=rest[place].text, language="awk")


def _java(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    texts = [word.text for word in rest]
    if "-jar" in texts[:-1]:
        place = texts.index("-jar") + 1
        name = texts[place].rpartition("/")[2].removesuffix(".jar")
        yield Inner([Word(name), *rest[place + 1 :]])


_SED_RUNS = re.compile(r"(?:^|[;{\n]|[\d$/])[ \t]*e[ \t]+([^\n]{1,5000})")


def _sed(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """Yield the lines that GNU sed's `e` command gives to a shell."""
    options = ("-e", "--expression")
    arguments = Arguments(rest, (*options, "-f", "--file", "-l"))
    scripts = arguments.values(*options) or arguments.operands[:1]
    for script in scripts:
        yield from (Inner(script=line) for line in _SED_RUNS.findall(script.text))


def _vim(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    options = ("-c", "--cmd")
    arguments = Arguments(rest, options)
    texts = [word.text for word in arguments.values(*options)]
    texts += [word.text[1:] for word in rest if word.text.startswith("+")]
    for text in texts:
        if "!" in text:
            yield Inner(script=text.partition("!")[2])


_NAMES = {
    "eval": _eval,
    "trap": _trap,
    "source .": _source,
    "watch": _watch,
    "flock": _flock,
    "sg runuser su": _user,
    "xargs gxargs": _xargs,
    "parallel": _parallel,
    "find gfind": _find,
    "fd fdfind": _fd,
    "ssh mosh autossh": _ssh,
    "docker podman nerdctl docker-compose podman-compose": _container,
    "kubectl oc k lxc incus multipass adb heroku": _behind_dashes,
    "tmux screen": _tmux,
    "git": _git,
    "tar gtar": _tar,
    "at batch": _at,
    "cmd cmd.exe powershell pwsh": _cmd,
    "concurrently": _concurrently,
    "java": _java,
    "sed gsed": _sed,
    "vim vi nvim ex": _vim,
    "awk gawk mawk nawk": _awk,
    "make gmake": _make,
    "deno bun": _evaluated,
    "python python2 python3 perl ruby node nodejs php": _code,
    "lua luajit julia Rscript groovy elixir osascript tclsh": _code,
}
WAYS = {name: way for names, way in _NAMES.items() for name in names.split()}
