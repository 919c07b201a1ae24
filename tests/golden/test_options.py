"""Options are the same on every page of help: `--json` wherever something is printed, and one name,
one letter, one sentence and one place for what means the same."""

import re
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from rookery.cli import app
from tests.golden.test_help import ROOT, context

NO_JSON = {
    "acp": "stdout is the protocol",
    "agent": "stdout is the protocol",
    "play": "stdout is the protocol",
    "model": "it serves until it is ended",
    "open": "it fills the screen",
    "config edit": "an editor has the terminal",
    "agents login": "the agent's own login may have the terminal",
    "completions": "stdout is a script for a shell",
    "help": "stdout is a page to read",
    "api": "the daemon's answer is JSON already",
}
"""Commands without `--json`; docs/api.md has them, too."""

DIFFERS = {
    "--agent": "what it chooses is the command's; in `logs`, which of two files is printed",
    "--all": "what is left out otherwise is the command's",
    "--approve": "`prompt` changes what an earlier command chose",
    "--at": "`open` goes there, `show` prints it",
    "--ca": "`acp` says to which option it belongs",
    "--cwd": "of what it is the directory",
    "--fingerprint": "of a certificate, or of a list that a dry run printed",
    "--force": "what it overrides is the command's",
    "--forget": "what is forgotten is the command's",
    "--from": "a directory, or an image",
    "--json": "what is printed is the command's",
    "--last": "`rookery` opens it, editors continue it",
    "--limit": "what is counted is the command's",
    "--list": "what is listed is the command's",
    "--method": "`acp` says to which option it belongs",
    "--model": "of a session, or the one to save",
    "--name": "of what it is the name",
    "--off": "what is switched is the command's",
    "--on": "what is switched is the command's",
    "--passphrase": "the one that is set, or the one that is known",
    "--provider": "of a model, or of searches",
    "--reason": "of an answer, or of a rule",
    "--resume": "`rookery` opens it, editors continue it",
    "--role": "of a text, or of a device",
    "--since": "an event, or a time",
    "--stop": "a session, or the daemon",
    "--timeout": "for what, and how long otherwise",
    "--title": "`fork` has no prompt whose first line it could be",
    "--turn": "what is printed of it is the command's",
    "--url": "of what it is the address",
    "--verbose": "`rookery` and `prompt` say with which option it works",
    "--worktree": "`fork` has a branch to begin at, and no name",
    "--yes": "`setup login` agrees to the terms of another",
}
"""Long options with more than one sentence, and why."""

LETTERS = {
    "-d": "`run --detach`; `api --data`, as in curl",
    "-f": "`logs --follow`, as in tail; `export --format`",
}
"""Letters of two options, and why."""

FIRST_USED_FIRST = {"rookery", "run"}
"""Their help begins with what people use."""


def commands(place: click.Context) -> Iterator[tuple[str, click.Command]]:
    """A command and all that are in it, each by its words without `rookery`."""
    command = place.command
    yield place.command_path.removeprefix("rookery "), command
    if isinstance(command, click.Group):
        names = list(command.list_commands(place))
        for name in (*names, *(sorted(app.PLUMBING) if isinstance(command, app.Table) else ())):
            each = command.get_command(place, name)
            assert each is not None
            yield from commands(context(each, place, name))


COMMANDS = dict(commands(context(app.rookery, None, "rookery")))


def listed(command: click.Command) -> list[click.Option]:
    params = command.params
    return [each for each in params if isinstance(each, click.Option) and not each.hidden]


def long(option: click.Option) -> str:
    return next((each for each in option.opts if each.startswith("--")), "")


def runs(command: click.Command) -> bool:
    """Not a group that only has commands."""
    return not isinstance(command, click.Group) or command.invoke_without_command


def test_every_command_prints_json_or_has_a_reason_not_to() -> None:
    with_json = {
        name for name, each in COMMANDS.items() if "--json" in [long(it) for it in listed(each)]
    }
    without = {name for name, each in COMMANDS.items() if runs(each)} - with_json
    new, gone = sorted(without - NO_JSON.keys()), sorted(NO_JSON.keys() - without)
    how = "add @flags.results() and screen.result(…), or a reason to NO_JSON and docs/api.md"
    assert not new, f"{', '.join(new)}: no --json; {how}"
    assert not gone, f"{', '.join(gone)}: out of NO_JSON"
    assert len(with_json) > 80
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    told = re.findall("`([a-z ]+)`", page.partition("Without `--json`")[2].partition("\n\n")[0])
    assert set(told) == NO_JSON.keys()


def test_an_option_has_one_sentence() -> None:
    sentences = defaultdict[str, dict[str | None, str]](dict)
    for name, command in COMMANDS.items():
        for option in listed(command):
            for word in (*option.opts, *option.secondary_opts):
                if word.startswith("--"):
                    sentences[word][option.help] = name
    several = {word for word, said in sentences.items() if len(said) > 1}
    for word in sorted(several - DIFFERS.keys()):
        pytest.fail(f"{word} says one thing in each of: {sentences[word]}", pytrace=False)
    assert not DIFFERS.keys() - several, "out of DIFFERS"


def test_every_option_has_a_sentence() -> None:
    options = [(name, it) for name, each in COMMANDS.items() for it in listed(each)]
    assert not [(name, long(it)) for name, it in options if not it.help]


def test_an_option_has_one_letter_wherever_it_is_and_no_other_has_it() -> None:
    letters, words = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for command in COMMANDS.values():
        for option in listed(command):
            letter = next((each for each in option.opts if not each.startswith("--")), "")
            letters[long(option)].add(letter)
            words[letter].add(long(option))
    assert {word for word, known in letters.items() if len(known) > 1} == {"--yes"}  # of a login
    assert {letter for letter, known in words.items() if len(known) > 1} == {"", *LETTERS}


def test_yes_and_json_come_last() -> None:
    for name, command in COMMANDS.items():
        words = [long(each) for each in listed(command) if each.name != "agreed"]
        last = [word for word in ("--yes", "--json") if word in words]
        assert name in FIRST_USED_FIRST or words[len(words) - len(last) :] == last, name
