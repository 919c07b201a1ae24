"""Where a command writes: its redirections, and the operands that programs write to. Of a word that
is known only once it runs (a variable, a glob), the directory before it counts."""

import re
from collections.abc import Callable, Iterator, Sequence

from rookery.core.command_line.arguments import Arguments, values_of
from rookery.core.command_line.grammar import joined
from rookery.core.command_line.words import Simple, Word, listed, options_table
from rookery.core.dangers import code, places

_ALL = listed("tee touch mkdir rmdir rm unlink shred truncate mkfifo mknod sponge srm wipe ed red")
_LAST = listed("cp mv ln install rsync scp")
_VALUES = options_table("""
touch: -d -r -t --date --reference
mkdir: -m --mode
truncate: -s -r --size --reference
shred: -n -s --iterations --size --random-source
cp mv ln: -t -S --target-directory --suffix
install: -m -o -g -t -S --mode --owner --group --target-directory --suffix
scp: -c -D -F -i -J -l -o -P -S -X
sed: -e -f -l -E --expression --file
perl: -e -E
unzip: -d -x -P
ssh-keygen: -f -t -b -C -N -P -m -O -R -F -I -n -s -V -z -D
patch: -d -o -p -i -r -D -B -F
ex: -c -s
sort: -o -k -t -S -T --output --key --field-separator
openssl: -out -in -key -keyout
""")
_TRIALS = ("-n", "--dry-run", "--list-only")
_UNSURE = re.compile(r"[$*?\[`]")


def judge(command: Simple, roots: Sequence[str], home: str) -> str:
    """Why it matters where a command writes; "": it does not."""
    for word in _targets(command):
        if why := _judge_one(word, command, roots, home):
            return why
    return ""


def _judge_one(word: Word, command: Simple, roots: Sequence[str], home: str) -> str:
    text = word.text
    if text.startswith(("/dev/tcp/", "/dev/udp/")):
        return f"opens a connection ({text})"
    sure = word.certain or _is_home(text)
    if not sure:  # only the directory that it stands behind is known
        unsure = _UNSURE.search(text)
        text = text[: unsure.start()] if unsure else text
        text = text.rpartition("/")[0]
        if not text.startswith(("/", "~")):
            return ""
    path = resolved(text, command, roots, home)
    if path is None or places.is_sink(path) or command.remote == "container":
        return ""
    if places.is_below(path, "/dev") and not places.is_temporary(path):
        return f"writes to a device ({path})" if path != "/dev" else ""
    if why := places.special(path, roots, home):
        return why
    if not sure or command.remote or not roots or places.is_temporary(path):
        return ""
    return places.outside(path, roots)


def _is_home(text: str) -> bool:
    """`$HOME` is as good as known."""
    for name in ("$HOME", "${HOME}"):
        if text == name or text.startswith(name + "/"):
            return not _UNSURE.search(text[len(name) :])
    return False


def resolved(text: str, command: Simple, roots: Sequence[str], home: str) -> str | None:
    """Absolute and plain; None: nobody knows."""
    whole = joined(command.place, text)
    if whole is None:
        return None
    if whole == "~" or whole.startswith("~/"):
        whole = home + whole[1:]
    elif whole.startswith("~"):
        return None
    elif not whole.startswith("/"):
        whole = f"{roots[0] if roots else ''}/{whole}"
    return places.normal(whole)


def _targets(command: Simple) -> Iterator[Word]:
    for redirect in command.redirects:
        network = redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/"))
        if redirect.writes or network:
            yield redirect.target
    program = command.program
    if not command.words:
        return
    if command.code:
        yield from (Word(path) for path in code.written(command))
    if program in _ALL:
        yield from _arguments(command).operands
    elif program in _LAST:
        yield from _copied(command)
    elif program == "dd":
        files = [word for word in command.words if word.text.startswith("of=")]
        yield from (word._replace(text=word.text[3:]) for word in files)
    elif program in _OUTPUTS:
        yield from _arguments(command).values(*_OUTPUTS[program])
    elif program in _OPTIONS:
        yield from _OPTIONS[program](_arguments(command))


def _arguments(command: Simple) -> Arguments:
    values = _VALUES.get(command.program) or values_of(command.program)
    return Arguments(command.words[1:], values, single=command.program == "openssl")


def _copied(command: Simple) -> Iterator[Word]:
    arguments = _arguments(command)
    operands = arguments.operands
    yield from arguments.values("-t", "--target-directory")
    if arguments.has("-t", "--target-directory") or not operands:
        return
    if command.program == "install" and arguments.has("-d", "--directory"):
        yield from operands
    elif command.program in ("rsync", "scp"):
        if ":" not in operands[-1].text and len(operands) > 1 and not arguments.has(*_TRIALS):
            yield operands[-1]
    elif len(operands) > 1:
        yield operands[-1]
        if command.program == "mv":
            yield from operands[:-1]


def _edited(arguments: Arguments) -> list[Word]:
    """`sed -i`, `perl -i`."""
    if not arguments.has("-i", "--in-place"):
        return []
    scripted = arguments.has("-e", "-f", "-E", "--expression", "--file")
    return arguments.operands if scripted else arguments.operands[1:]


def _tar(arguments: Arguments) -> list[Word]:
    """Where it unpacks, or the archive that it makes; `tar xzf` has no dash."""
    letters = arguments.operands[0].text if arguments.operands else ""
    old = not any(given in arguments.options for given in ("-x", "-c", "-t", "-r", "-u"))
    old = old and letters.isalpha() and not arguments.has("--extract", "--create", "--list")
    if arguments.has("-x", "--extract", "--get") or (old and "x" in letters):
        return arguments.values("-C", "--directory")
    if arguments.has("-c", "-r", "-u", "--create") or (old and set("cru") & set(letters)):
        named = arguments.values("-f", "--file")
        return named or (arguments.operands[1:2] if old and "f" in letters else [])
    return []


def _key(arguments: Arguments) -> list[Word]:
    reads = ("-l", "-y", "-F", "-e", "-B", "-v", "-Y", "-L", "-Q")
    return [] if arguments.has(*reads) else arguments.values("-f")


_OPTIONS: dict[str, Callable[[Arguments], list[Word]]] = {
    **dict.fromkeys(("sed", "gsed", "perl"), _edited),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "ssh-keygen": _key,
    "ex": lambda found: found.operands,
    "patch": lambda found: [*found.operands[:1], *found.values("-d", "-o")],
}
_OUTPUTS = options_table("""
unzip: -d
curl: -o --output --output-dir -D --dump-header
wget: -O --output-document -P --directory-prefix -o --output-file
sort: -o --output
openssl: -out -keyout
""")
"""Options whose value is written to."""
