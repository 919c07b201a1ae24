"""Finding the shell commands that code of other languages runs, within a command line.

Strings and comments are told apart from code, so that a string that is merely printed does not
count as a call."""

import re
import shlex
from collections.abc import Iterator

_LANGUAGES = {"nodejs": "node", "bun": "node", "deno": "node", "luajit": "lua"}
OPTIONS = {
    "python": ("-c",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "node": ("-e", "-p", "--eval", "--print"),
    "php": ("-r",),
    "awk": (),
    "lua": ("-e",),
    "julia": ("-e", "-E", "--eval"),
    "Rscript": ("-e",),
    "groovy": ("-e",),
    "elixir": ("-e", "--eval"),
    "osascript": ("-e",),
    "tclsh": (),
}
VALUES = ("-m", "-W", "-X", "-I", "-M", "-r", "--require", "-l")
"""Options of an interpreter that take another word, and no code."""

_TOKENS = re.compile(
    r"""'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""""
    r"""|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\#[^\n]*|(?<![:/])//[^\n]*""",
    re.DOTALL,
)
_RUNS = re.compile(
    r"\b(?:system|popen\w*|run|call|check_call|check_output|getoutput|getstatusoutput|exec\w*"
    r"|spawn\w*|shell_exec|passthru|sh|do\s+shell\s+script)\s{0,9}\(?\s{0,9}(\[?)\s{0,9}"
    r"((?:[rbfuRBFU]{0,2}\x00\d{1,6}\x00[\s,]{0,9}\[?){1,30})"
)
_PLACE = re.compile(r"\x00(\d{1,6})\x00")
_PIPES = re.compile(r"\|\s{0,9}\x00(\d{1,6})\x00|\x00(\d{1,6})\x00\s{0,9}\|\s{0,9}getline")


def language_of(program: str) -> str:
    plain = program.rstrip(".0123456789")
    return _LANGUAGES.get(plain, plain)


def bare(code: str, language: str = "") -> tuple[str, list[str]]:
    """Return the code without comments and with numbers for its strings; and the strings."""
    strings: list[str] = []

    def kept(match: re.Match[str]) -> str:
        text = match.group()
        if text[0] == "#":
            return text[0] if language == "node" else ""
        if text[0] == "/":
            return "" if language in ("node", "php") else text
        cut = 3 if text[:3] in ("'''", '"""') and len(text) >= 6 else 1
        strings.append(text[cut:-cut])
        return f"\x00{len(strings) - 1}\x00"

    return _TOKENS.sub(kept, code.replace("\x00", "")), strings


def _recipes(makefile: str) -> Iterator[str]:
    for line in makefile.splitlines():
        if line.startswith("\t"):
            yield line.lstrip("\t@-+ ").replace("$$", "$")
        elif ":" in line and ";" in line:  # target: ; command
            yield line.partition(";")[2].lstrip("@-+ ")


def shell_lines(code: str, language: str = "") -> Iterator[str]:
    """Yield the shell commands that the code runs, where they are written as literals."""
    text, strings = bare(code, language)
    for match in _RUNS.finditer(text):
        args = [strings[int(each)] for each in _PLACE.findall(match.group(2))]
        args = [re.sub(r"\\(.)", r"\1", word) for word in args]
        if len(args) == 1:
            yield args[0]
        elif args:
            yield shlex.join(args)
    if language == "make":
        yield from _recipes(code)
    if language == "awk":
        for match in _PIPES.finditer(text):
            yield strings[int(match.group(1) or match.group(2))]
    if language in ("perl", "ruby", "php"):
        yield from (each[1:-1] for each in re.findall(r"`[^`]{1,10000}`", code))
