"""Escape hatches: options and words by which common programs run other programs or write files.

`git diff *` is meant to allow looking, but `git diff --output=FILE` writes. A pattern allows a
command that uses a hatch only if it names the hatch itself: `git diff --output=*`.
"""

import re
from functools import lru_cache

from rookery.core.command_line import globs
from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.line import read
from rookery.core.command_line.words import SHELLS, Simple, listed, options_table
from rookery.core.command_line.wrappers import WRAPPERS

_HATCHES = options_table("""
find: -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls
fd: -x -X --exec --exec-batch
tar: --to-command --checkpoint-action -I --use-compress-program --rsh-command -F --info-script
    --new-volume-script --rmt-command --remove-files
rsync: -e --rsh --rsync-path -M --remote-option --log-file --write-batch
scp: -S -o -F -D
sftp: -S -o -F -D -b
ssh: -o -F -I -E -S -w
man: -P --pager -H --html -C --config-file
less: -o -O -k -K --log-file --LOG-FILE --lesskey-src --lesskey-file +
rg: --pre --hostname-bin
ag: --pager
ack: --pager --ackrc
bat: --pager --config-file
fzf: --preview --bind --with-shell
yq: -i --inplace
sort: -o --output --compress-program -T --temporary-directory
shuf: -o --output
split: --filter
tree: -o
file: -C -m --compile
patch: -o -d -r -i --output --directory --reject-file
date: -s --set
curl: -o --output -O --remote-name -J -K --config --output-dir -D --dump-header -c --cookie-jar
    --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc -T --upload-file
wget: -O -o -a -P -i -e --execute --use-askpass --config --output-document --output-file
    --append-output --directory-prefix --input-file --post-file --body-file
zip: -T -TT --unzip-command -m
tcpdump: -z -w
tshark: -w
nmap: --script -oN -oX -oG -oA --datadir
make gmake: -f --file --makefile --eval -C --directory -I --include-dir =
ninja: -f -C -t
cmake: -P -E -C
ctest: -S --build-and-test
npm: exec x explore init create config set --script-shell --prefix -C --node-options
pnpm: exec dlx create config -C --dir --script-shell
yarn: exec dlx create config --cwd
cargo: --config -C -Z --manifest-path run
go: run generate tool -exec -toolexec -vettool -overlay -C -o
gcc cc g++ clang: -fplugin -wrapper -B -specs -Xclang -load -o @
mvn: -f --file -s --settings exec:exec exec:java
gradle: -I --init-script -b --build-file -p --project-dir
docker podman nerdctl: run exec cp create load import -H --host --config -c --context
kubectl: exec cp run debug edit proxy --kubeconfig
oc: exec cp run debug edit rsh --kubeconfig
terraform: -chdir console -plugin-dir
psql: -o -L -f --output --log-file --file
mysql: --pager --tee
sqlite3: -cmd -init
pytest: -p -c --rootdir --confcutdir -o --override-ini --pdbcls --basetemp
eslint: -c --config --rulesdir --plugin --parser -f --format -o --output-file
prettier: --config --plugin -w --write
jest: -c --config --runner --globalSetup --setupFiles --reporters --transform
mypy: --config-file --python-executable --install-types
systemctl: edit link -H --host
ip: -b -batch netns
nc: -e -c
ncat: -e -c --exec --sh-exec --lua-exec
openssl: -engine -provider -out -config
gpg: -o --output --exec-path --photo-viewer
ssh-keygen: -D -f
apt apt-get: -o -c --option --config-file
""")
_GIT_BEFORE = listed("-c --config-env --exec-path -C --git-dir --work-tree")
_GIT_ANYWHERE = listed(
    "--output --ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager "
    "--extcmd --template --config --output-directory --remote"
)
_GIT_WORDS = listed(
    "difftool mergetool filter-branch instaweb send-email daemon gui citool hook config bisect "
    "submodule credential imap-send fast-import web--browse interpret-trailers"
)
_GIT_SHORT = options_table("""
grep: -O
rebase: -x -i
clone: -c -u
archive format-patch: -o
fetch-pack ls-remote: -u
""")
_WHOLE = (
    SHELLS
    | WRAPPERS
    | listed(
        "vim vi nvim view ex ed emacs nano more most tee ldd gdb lldb m4 dc socat expect tclsh lua "
        "Rscript julia osascript crontab at batch ftp telnet php perl ruby node python python2 "
        "python3 deno bun java screen tmux script uniq xxd eval exec source"
    )
)
_WHOLE -= _HATCHES.keys() | {"git", "sed", "awk", "gawk", "mawk", "nawk"}
"""Programs that are hatches as a whole: a pattern must begin with their name."""

_SAFE_SED = re.compile(
    r"(?:\d+|\$)?(?:,(?:\d+|\$|\+\d+))?!?[pdq=]|/[^/\n]*/!?[pdq=]"
    r"|(?:\d+|\$)?(?:,(?:\d+|\$))?s([/|#,:])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*"
)


def is_allowed(pattern: str, command: str) -> bool:
    """Whether a pattern that matches a plain command names every hatch that the command uses."""
    if "*" not in pattern or pattern.strip() == "*":
        return True  # the command itself, or anything whatever
    literal = globs.pieces(pattern)
    return all(any(each in piece for piece in literal) for each in opened(command))


@lru_cache(maxsize=64)
def opened(command: str) -> tuple[str, ...]:
    """The hatches that a plain command uses, as they are written there."""
    commands = [each for each in read(command).commands if not each.level]
    if len(commands) != 1 or not commands[0].words:
        return (command,)
    simple = commands[0]
    found = [word.text for word in simple.assigned]
    name = simple.program
    if name in _WHOLE or name.rstrip(".0123456789") in _WHOLE:
        found.append(name)
    found += _OWN[name](simple) if name in _OWN else []
    if name in _HATCHES or name == "git":
        found += _globbed(simple)
    return tuple(dict.fromkeys([*found, *_listed(simple)]))


def _globbed(command: Simple) -> list[str]:
    """A glob at the beginning of a word may find a file that is named like an option."""
    found = []
    for word in command.words[1:]:
        if word.text == "--":
            break
        if not word.certain and word.text[:1] in ("*", "?", "["):
            found.append(word.text)
    return found


def _listed(command: Simple) -> list[str]:
    words = [text for text in command.argv[1:] if text]
    single = command.program in ("find", "go", "gcc", "cc", "g++", "clang", "openssl", "terraform")
    found = []
    for hatch in _HATCHES.get(command.program, ()):
        if not hatch.startswith("-"):
            found += [text for text in words if _is_word(hatch, text)]
            continue
        found += [text.partition("=")[0] for text in words if _is_option(hatch, text, single)]
    return found


def _is_word(hatch: str, text: str) -> bool:
    if hatch in ("=", "+", "@"):
        return hatch in text if hatch == "=" else text.startswith(hatch)
    return text == hatch


def _is_option(hatch: str, text: str, single: bool) -> bool:
    """Also within `-xo`, with a value behind it, and shortened."""
    if not text.startswith("-"):
        return False
    name = text.partition("=")[0]
    if hatch.startswith("--"):
        return name == hatch or (len(name) > 3 and hatch.startswith(name))
    if single or len(hatch) > 2:
        return name.startswith(hatch) or name == "-" + hatch
    return not text.startswith("--") and hatch[1] in text[1:]


def _git(command: Simple) -> list[str]:
    words = command.words[1:]
    place = first_operand(words, values_of("git"))
    before = Arguments(words[:place], values_of("git"))
    found = [name for name in before.options if name in _GIT_BEFORE]
    verb = words[place].text if place < len(words) else ""
    behind = [word.text for word in words[place + 1 :]]
    if verb in _GIT_WORDS:
        found.append(verb)
    for text in behind:
        name = text.partition("=")[0]
        if any(_is_option(hatch, name, False) for hatch in _GIT_ANYWHERE):
            found.append(name)
        if any(_is_option(hatch, text, False) for hatch in _GIT_SHORT.get(verb, ())):
            found.append(text[:2])
        if text.startswith(("ext::", "fd::")):
            found.append(text)
    return found


def _sed(command: Simple) -> list[str]:
    """What is only printed or replaced on the way through is harmless."""
    options = ("-e", "--expression", "-f", "--file", "-l")
    arguments = Arguments(command.words[1:], options)
    found = [name for name in ("-i", "--in-place", "-f", "--file") if arguments.has(name)]
    scripts = arguments.values("-e", "--expression") or arguments.operands[:1]
    for script in scripts:
        parts = [part.strip() for part in script.text.split(";") if part.strip()]
        if not all(_SAFE_SED.fullmatch(part) for part in parts):
            found.append(script.text)
    return found


def _awk(command: Simple) -> list[str]:
    arguments = Arguments(command.words[1:], ("-F", "-v", "-f", "--file", "-i", "-l", "-e"))
    found = [name for name in ("-f", "--file", "-i", "-l", "-e", "-E") if arguments.has(name)]
    scripts = [word.text for word in arguments.operands[:1]]
    return [*found, *(text for text in scripts if re.search(r"system|getline|[|>@]", text))]


def _sqlite(command: Simple) -> list[str]:
    return [text for text in command.argv[1:] if text.startswith(".")]


def _psql(command: Simple) -> list[str]:
    return [text for text in command.argv[1:] if "\\" in text or "program" in text.lower()]


_OWN = {"git": _git, "sqlite3": _sqlite, "psql": _psql, "sed": _sed, "gsed": _sed}
_OWN |= dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk)
"""Programs whose hatches are more than a list."""
