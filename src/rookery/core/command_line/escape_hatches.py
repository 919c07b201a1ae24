"""Escape hatches: options and words by which common programs run other programs or write files.

`git diff *` is meant to allow looking, but `git diff --output=FILE` writes. A pattern allows a
command that uses a hatch only if it names the hatch itself: `git diff --output=*`.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from rookery.core.command_line import foreign_code, globs, option_names
from rookery.core.command_line.arguments import Arguments, first_operand, values_of
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import SHELLS, Simple, listed, options_table
from rookery.core.command_line.wrappers import WRAPPERS

_HATCHES = options_table("""
find: -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls
fd: -x -X --exec --exec-batch
tar: --to-command --checkpoint-action -I --use-compress-program --rsh-command -F --info-script
    --new-volume-script --rmt-command --remove-files -P --absolute-names -g --listed-incremental
    --index-file --delete --one-top-level
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
yq: -i --inplace -s --split-exp
sort: -o --output --compress-program -T --temporary-directory
shuf: -o --output
split: --filter
tree: -o
file: -C -m --compile
patch: -o -d -r -i --output --directory --reject-file --input
date: -s --set
curl: -o --output -O --remote-name -J -K --config --output-dir -D --dump-header -c --cookie-jar
    --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc -T --upload-file
    --remote-name-all --unix-socket
wget: -O -o -a -P -i -e --execute --use-askpass --config --output-document --output-file
    --append-output --directory-prefix --input-file --post-file --body-file
zip: -T -TT --unzip-command -m
tcpdump: -z -w
tshark: -w
nmap: --script -oN -oX -oG -oA --datadir
make gmake: -f --file --makefile --eval -C --directory -I --include-dir =
ninja: -f -C -t
cmake: -P -E -C
ctest: -S -O --build-and-test
npm: exec x explore init create config set fix --script-shell --prefix -C --node-options
pnpm: exec dlx create config -C --dir --script-shell
yarn: exec dlx create config --cwd
cargo: --config -C -Z --manifest-path run
go: run generate tool -exec -toolexec -vettool -overlay -C -o -w -u -gcflags -ldflags -asmflags
    -gccgoflags
gcc cc g++ clang clang++: -fplugin -wrapper -B -specs -Xclang -load -o -MF -MJ -MD -MMD -save-temps
    -dumpdir -dumpbase -fdump -ftime-trace -fprofile -aux-info @
as ld nm objdump ar strip: @
javac: -d -s -h -processor -J @
shfmt: -w
rustc: -o --emit --out-dir -C -Z
gofmt goimports: -w
clang-format: -i
mvn: -f --file -s --settings -l --log-file -gs exec:exec exec:java
gradle: -I --init-script -b --build-file -p --project-dir
docker podman nerdctl: run exec cp create load import -H --host --config -c --context -o --output
    --cache-to
kubectl: exec cp run debug edit proxy --kubeconfig
oc: exec cp run debug edit rsh --kubeconfig
terraform: -chdir console -plugin-dir
psql: -o -L -f --output --log-file --file
mysql: --pager --tee
sqlite3: -cmd -init
pytest: -p -c --rootdir --confcutdir -o --override-ini --pdbcls --basetemp
eslint: -c --config --rulesdir --plugin --parser -f --format -o --output-file
prettier: --config --plugin -w --write
jest: -c --config --runner --globalSetup --setupFiles --reporters --transform -u
vitest playwright: -u --update -c
mocha: -r --require -R --reporter -O --reporter-options --reporter-option -c
rubocop: -a -A --auto-correct --autocorrect -r --require
rspec: -r --require -I -f
phpstan: -a -c
phpunit: -c
tox nox: -c -f
dotnet: --logger -o
golangci-lint: --out-format -c
coverage: -d --rcfile run
pip pip3: -t --target --root --prefix -d --python
pandoc: -F --filter -L --lua-filter --pdf-engine --extract-media
ffprobe ffmpeg: -report
dot: -O -l
helm: -d
ctags cscope: -f -b -o
ss: -D -K --kill --diag
lsof: -D
jdupes fdupes: -d -L -l -H -B
gawk: -p -o -d -D --profile
xxd: -r
mypy: --config-file --python-executable --install-types
systemctl: edit link -H --host
ip: -b -batch netns
nc: -e -c
ncat: -e -c --exec --sh-exec --lua-exec
openssl: -engine -provider -out -config -keyout -writerand
gpg: -o --output --exec-path --photo-viewer
ssh-keygen: -D -f
apt apt-get: -o -c --option --config-file
""")
_GIT_BEFORE = listed("-c --config-env --exec-path -C --git-dir --work-tree")
_GIT_ANYWHERE = listed(
    "--output --ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager "
    "--extcmd --template --config --output-directory --remote --show-signature --edit-description"
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
        "ex ed more most tee ldd gdb lldb m4 dc socat expect tclsh lua "
        "Rscript julia osascript crontab at batch ftp telnet php perl ruby node python python2 "
        "python3 deno bun java screen tmux script eval exec source"
    )
)
_WHOLE -= _HATCHES.keys() | {"git", "sed", "awk", "gawk", "mawk", "nawk"}
"""Programs that are hatches as a whole: a pattern must begin with their name."""

_ONLY = options_table("""
vim vi nvim view: -R -M -m -n -N -b -d -o -O -p -Z --noplugin --clean
emacs: -nw --no-window-system
nano: -v --view -l --linenumbers
""")
"""Known writers, whose every other option may write or run something; so may `+command`."""
_OPERANDS = options_table("""
uniq: 1 -f -s -w
xxd: 1 -c -g -l -n -o -s
hostname domainname: 0
""")
"""Programs that write to what stands behind so many operands; their options that take a value."""
_PASSES = listed(
    "python python2 python3 npx bunx uvx uv poetry pipenv pdm hatch bundle yarn pnpm npm bun conda "
    "mise"
)
"""Programs behind which another one stands, with hatches of its own."""
_SINGLE = listed(
    "find go gcc cc g++ clang clang++ openssl terraform tofu mvn ffprobe ffmpeg java javac gofmt "
    "goimports"
)
"""Programs whose long options have one dash."""
_MAVEN = re.compile(r"-D(?:test|it\.test|skipTests|skipITs|maven\.test\.skip|groups)\b")

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
    """Return the hatches that a plain command uses, as they are written there."""
    commands = [each for each in read(command).commands if not each.level]
    if len(commands) != 1 or not commands[0].tokens:
        return (command,)
    simple = commands[0]
    hatches = [word.text for word in simple.assigned]
    name = simple.program
    if name in _WHOLE or name.rstrip(".0123456789") in _WHOLE:
        hatches.append(name)
    hatches += _of(simple)
    if name in _PASSES:
        inner = [each for each in read(command).commands if each.level == 1 and each.via == name]
        hatches += [hatch for each in inner for hatch in _of(each)]
    return tuple(dict.fromkeys(hatches))


def _of(command: Simple) -> list[str]:
    name = command.program
    hatches = _OWN[name](command) if name in _OWN else []
    if name in _HATCHES or name == "git":
        hatches += _globbed(command)
    if name in _OPERANDS:
        most, *values = _OPERANDS[name]
        operands = Arguments(command.tokens[1:], values).operands
        hatches += [word.text for word in operands[int(most) :]]
    if name in _ONLY:
        texts = [text for text in command.argv[1:] if text[:1] in "-+" and len(text) > 1]
        known = (text for text in texts if text in _ONLY[name] or re.fullmatch(r"\+\d*", text))
        hatches += [text for text in texts if text not in set(known)]
    return [*hatches, *_listed(command), *_telling(command)]


def _telling(command: Simple) -> list[str]:
    name = command.program
    args = command.argv[1:]
    if name in _WHOLE:  # what they run has options of its own
        args = args[: first_operand(command.tokens[1:], values_of(name))]
        args = [] if name in SHELLS or name in foreign_code.OPTIONS else args
    single = name in _SINGLE
    texts = [text for text in args if option_names.is_telling(name, text, single=single)]
    return [text.partition("=")[0] for text in texts]


def _globbed(command: Simple) -> list[str]:
    """Return the globs at the beginning of a word: each may expand to an option-like name."""
    patterns = []
    for word in command.tokens[1:]:
        if word.text == "--":
            break
        if not word.certain and word.text[:1] in ("*", "?", "["):
            patterns.append(word.text)
    return patterns


def _listed(command: Simple) -> list[str]:
    args = [text for text in command.argv[1:] if text]
    single = command.program in _SINGLE
    hatches = []
    for hatch in _HATCHES.get(command.program, ()):
        if not hatch.startswith("-"):
            hatches += [text for text in args if _is_word(hatch, text)]
            continue
        hatches += [text.partition("=")[0] for text in args if _is_option(hatch, text, single)]
    return hatches


def _is_word(hatch: str, text: str) -> bool:
    if hatch in ("=", "+", "@"):
        return hatch in text if hatch == "=" else text.startswith(hatch)
    return text == hatch


def _is_option(hatch: str, text: str, single: bool) -> bool:
    """Whether a word uses an option, also within `-xo`, with a value attached, or abbreviated."""
    if not text.startswith("-"):
        return False
    name = text.partition("=")[0]
    if hatch.startswith("--"):
        shortened = len(name) > 3 and hatch.startswith(name) and name not in ("--list", "--co")
        return name == hatch or shortened
    if single or len(hatch) > 2:
        return name.startswith(hatch) or name == "-" + hatch
    return not text.startswith("--") and hatch[1] in text[1:]


def _git(command: Simple) -> list[str]:
    tokens = command.tokens[1:]
    place = first_operand(tokens, values_of("git"))
    before = Arguments(tokens[:place], values_of("git"))
    hatches = [name for name in before.options if name in _GIT_BEFORE]
    verb = tokens[place].text if place < len(tokens) else ""
    behind = [word.text for word in tokens[place + 1 :]]
    if verb in _GIT_WORDS:
        hatches.append(verb)
    for text in behind:
        name = text.partition("=")[0]
        if any(_is_option(hatch, name, False) for hatch in _GIT_ANYWHERE):
            hatches.append(name)
        if any(_is_option(hatch, text, False) for hatch in _GIT_SHORT.get(verb, ())):
            hatches.append(text[:2])
        if text.startswith(("ext::", "fd::")):
            hatches.append(text)
    return hatches


def _sed(command: Simple) -> list[str]:
    """Return the options and scripts that do more than print or replace text on its way through."""
    options = ("-e", "--expression", "-f", "--file", "-l")
    arguments = Arguments(command.tokens[1:], options)
    hatches = [name for name in ("-i", "--in-place", "-f", "--file") if arguments.has(name)]
    scripts = arguments.values("-e", "--expression") or arguments.operands[:1]
    for script in scripts:
        parts = [part.strip() for part in script.text.split(";") if part.strip()]
        if not all(_SAFE_SED.fullmatch(part) for part in parts):
            hatches.append(script.text)
    return hatches


def _awk(command: Simple) -> list[str]:
    arguments = Arguments(command.tokens[1:], ("-F", "-v", "-f", "--file", "-i", "-l", "-e"))
    hatches = [name for name in ("-f", "--file", "-i", "-l", "-e", "-E") if arguments.has(name)]
    scripts = [word.text for word in arguments.operands[:1]]
    return [*hatches, *(text for text in scripts if re.search(r"system|getline|[|>@]", text))]


def _having(pattern: str) -> Callable[[Simple], list[str]]:
    """Return a function that lists the words matching a pattern: they do more than they seem to."""
    like = re.compile(pattern, re.IGNORECASE)
    return lambda command: [text for text in command.argv[1:] if like.search(text)]


def _tar(command: Simple) -> list[str]:
    """Return the hatches in option letters without a dash, as in `tar xPf`."""
    letters = command.argv[1] if len(command.tokens) > 1 else ""
    return [letters] if letters.isalpha() and set(letters) & set("PIFg") else []


def _maven(command: Simple) -> list[str]:
    texts = [text for text in command.argv[1:] if text.startswith(("-D", "--define"))]
    return [text.partition("=")[0] for text in texts if not _MAVEN.match(text)]


def _gh(command: Simple) -> list[str]:
    options = {
        "api": ("-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"),
        "run": ("-D", "--dir"),
        "release": ("-D", "-O", "--dir", "--output"),
    }
    texts = command.argv[1:]
    known = options.get(next(iter(texts), ""), ())
    return [text for text in texts if any(_is_option(hatch, text, False) for hatch in known)]


_REPORTS = re.compile(r"(?:--cov-report[= ])?(?:html|xml|json|lcov|annotate|markdown)\b")


def _pytest(command: Simple) -> list[str]:
    """Return the options that write a report to a file; `--debug` is one, a report on the screen is
    not."""
    args = command.argv[1:]
    pairs = zip(args, [*args[1:], ""], strict=False)
    texts = [f"{a} {b}" if a == "--cov-report" else a for a, b in pairs]
    reports = [text for text in texts if text.startswith("--cov-report") and _REPORTS.match(text)]
    return [text.split("=")[0].split()[0] for text in reports] + [
        text.partition("=")[0] for text in args if text.startswith("--debug")
    ]


_OWN: dict[str, Callable[[Simple], list[str]]] = {
    "git": _git,
    "sqlite3": _having(r"^\.|writefile|load_extension|\battach\b|\bedit\("),
    "psql": _having(r"\\|program"),
    "mysql": _having(r"\\|^\s*(?:system|source)\b|into\s+(?:out|dump)file"),
    "curl": _having(r"^(?:-d|-F)?@|=@|%output\{"),
    "cmake": lambda command: [" -- "] if "--" in command.argv else [],
    "gh": _gh,
    "mvn": _maven,
    "pytest": _pytest,
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
}
_OWN |= dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk)
"""Programs whose hatches are more than a list."""
