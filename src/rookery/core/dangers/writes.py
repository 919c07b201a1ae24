"""Judging where a command writes: its redirections, and the operands that programs write to. For a
word that is known only at run time (a variable, a glob), the directory before it counts."""

import re
from collections.abc import Callable, Iterator

from rookery.core.command_line.arguments import Arguments, values_of
from rookery.core.command_line.grammar import joined
from rookery.core.command_line.syntax import Simple, Word, listed, options_table
from rookery.core.dangers import code, places
from rookery.core.dangers.places import Ground

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
zstd pandoc dot xsltproc tree shuf: -o --output
pg_dump pg_dumpall: -f --file -h -p -U -d -n -t -F
mysqldump mariadb-dump: -r --result-file -u -h -P
""")
_TRIALS = ("-n", "--dry-run", "--list-only")
_UNSURE = re.compile(r"[$*?\[`]")


def judge(command: Simple, ground: Ground) -> list[str]:
    """Return the reasons why the places that a command writes to are dangerous."""
    return [why for word in targets(command) if (why := _judge_one(word, command, ground))]


def _judge_one(word: Word, command: Simple, ground: Ground) -> str:
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
    path = resolved(text, command, ground)
    if path is None or places.is_sink(path) or command.remote == "container":
        return ""
    if places.is_below(path, "/dev") and not places.is_temporary(path):
        return f"writes to a device ({path})" if path != "/dev" else ""
    if why := places.special(path, ground):
        return why
    if not sure or command.remote or not ground.roots or ground.is_free(path, temporary=True):
        return ""
    return places.outside(path, ground)


def _is_home(text: str) -> bool:
    """Whether a text is a path below `$HOME`, which is as good as known."""
    for name in ("$HOME", "${HOME}"):
        if text == name or text.startswith(name + "/"):
            return not _UNSURE.search(text[len(name) :])
    return False


def resolved(text: str, command: Simple, ground: Ground) -> str | None:
    """Return the absolute, normalised path; None if it is unknown."""
    whole = joined(command.place, text)
    if whole is None:
        return None
    if whole == "~" or whole.startswith("~/"):
        whole = ground.home + whole[1:]
    elif whole.startswith("~"):
        return None
    elif not whole.startswith("/"):
        whole = f"{ground.start()}/{whole}"
    return places.normal(whole)


def targets(command: Simple) -> Iterator[Word]:
    for redirect in command.redirects:
        network = redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/"))
        if redirect.writes or network:
            yield redirect.target
    program = command.program
    if not command.tokens:
        return
    if command.code:
        yield from (Word(path) for path in code.written(command))
    if program in _ALL:
        yield from arguments_of(command).operands
    elif program in _LAST:
        yield from copied(command)
    elif program in _CLOUDS:
        yield from _fetched(command)
    elif program == "dd":
        yield from dd_files(command)
    elif program in OUTPUTS:
        yield from arguments_of(command).values(*OUTPUTS[program])
    elif program in _OPTIONS:
        yield from _OPTIONS[program](arguments_of(command))


def arguments_of(command: Simple) -> Arguments:
    values = _VALUES.get(command.program) or values_of(command.program)
    return Arguments(command.tokens[1:], values, single=command.program == "openssl")


_CLOUDS = listed("aws gsutil gcloud az kubectl oc docker podman rclone")


def _fetched(command: Simple) -> list[Word]:
    """Return the files that a copy brings from elsewhere: `aws s3 cp s3://b/x FILE`, `kubectl cp
    pod:/x FILE`."""
    operands = arguments_of(command).operands
    copies = {"cp", "mv", "sync", "copy", "copyto"} & {word.text for word in operands[:3]}
    far = [":" in word.text for word in operands[-2:]]
    return operands[-1:] if copies and far == [True, False] else []


def dd_files(command: Simple) -> list[Word]:
    outputs = [word for word in command.tokens if word.text.startswith("of=")]
    return [word._replace(text=word.text[3:]) for word in outputs]


def copied(command: Simple) -> Iterator[Word]:
    arguments = arguments_of(command)
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


def edited(arguments: Arguments) -> list[Word]:
    """Return the files edited by `sed -i`, `perl -i`."""
    if not arguments.has("-i", "--in-place"):
        return []
    scripted = arguments.has("-e", "-f", "-E", "--expression", "--file")
    return arguments.operands if scripted else arguments.operands[1:]


def packed(arguments: Arguments) -> list[Word]:
    """Return where an archive is unpacked, or the archive that is made; `tar xzf` has no dash."""
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
    **dict.fromkeys(("sed", "gsed", "perl"), edited),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), packed),
    "ssh-keygen": _key,
    "ex": lambda arguments: arguments.operands,
    "patch": lambda arguments: [*arguments.operands[:1], *arguments.values("-d", "-o")],
}
OUTPUTS = options_table("""
unzip: -d
curl: -o --output --output-dir -D --dump-header
wget: -O --output-document -P --directory-prefix -o --output-file
sort shuf: -o --output
openssl: -out -keyout
pg_dump pg_dumpall: -f --file
mysqldump mariadb-dump: -r --result-file
docker podman: -o --output
gpg gpg2: -o --output
pandoc dot xsltproc: -o --output
xmllint: --output
zstd: -o
tree: -o
""")
"""Options whose value is written to."""
