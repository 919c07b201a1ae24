"""`config`: shows, explains and edits the settings; the file is replaced only by a valid one."""

import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from difflib import get_close_matches

import click

from rookery.cli import exits, flags
from rookery.cli import settings as cli_settings
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.git_programs import trusted
from rookery.client import guard
from rookery.client.config import in_force, toml_file
from rookery.client.config.edit import change
from rookery.client.work_tree import drivers
from rookery.core.agent.addresses import address_of
from rookery.core.json import Json, dumps
from rookery.core.limits import AT_ONCE, Setting, range_of, written
from rookery.core.policy.rules import described
from rookery.core.settings import definitions
from rookery.forms.form import typed
from rookery.git import places
from rookery.home import config as files
from rookery.home import confirmed, paths

SECRET = ("rookery config show prints the names alone", "rookery config show hides it")
LISTED = "`rookery config explain` lists all settings."
HIDDEN = "(hidden)"
"""Instead of a secret."""
REJECTED = ".rejected"
"""Suffix of the copy of an edited file that could not be used, so that it is not lost."""


@click.group()
def config() -> None:
    """Show, explain and edit the settings: config.toml in Rookery's home.

    \b
    rookery config show
    rookery config explain silent_after
    rookery config set session.confirm ask-when-risky
    rookery config edit
    rookery config confirm
    """


@config.command()
@flags.results("Print JSON.")
def path() -> None:
    """Print the path of config.toml."""
    place = os.path.join(paths.home(), files.FILE)
    standard().result({"path": place})
    standard().line(place)


# ---------------------------------------------------------------- show


@config.command()
@flags.results("Print one JSON object per setting.")
def show() -> None:
    """Print every setting with its value and source: the default, or a line of the file.

    A number out of range is clamped to the nearest allowed value; both are shown.
    """
    screen = standard()
    for row in current(paths.home()):
        screen.result(row)
        screen.line(_shown(screen, row))


def current(home: str) -> list[Json]:
    """Return every setting: key, value, its line (None: the default), and the written value if it
    was clamped."""
    loaded = files.load(home)
    cli_settings.tell(in_force.settings(home))
    text = (_bytes(os.path.join(home, files.FILE)) or b"").decode()
    lines, tables = text.splitlines(), tomllib.loads(text)
    rows = []

    def add(key: list[str], value: object, given: object = None, shown: str = "") -> None:
        line = files.line_of(lines, key) or None
        row = {"key": shown or ".".join(key), "value": value, "line": line}
        clamped = given is not None and given != value and not isinstance(value, str)
        rows.append({**row, "written": given} if clamped else row)

    for setting in definitions.SINGLE:
        *table, name = setting.key.split(".")
        given = tables.get(table[0], {}) if table else tables
        name = setting.older if name not in given and setting.older in given else name
        value = files.value_of(loaded, setting)
        if setting.secret and value:
            add([*table, name], HIDDEN, shown=setting.key)
        elif name in given:
            add([*table, name], value, given[name], setting.key)
        else:
            rows.append({"key": setting.key, "value": value, "line": None})
    for name, argv in loaded.agents.items():
        url = address_of(argv)
        add(["agents", name, "url" if url else "command"], url or argv)
    for name in sorted(loaded.unconfined):
        add(["agents", name, "confined"], False)
    for name, more in loaded.extras.items():
        if more.env:
            add(["agents", name, "env"], sorted(more.env))  # its values may be secrets
        if more.mcp is not None:
            add(["agents", name, "mcp"], more.plain()["mcp"])
        for key, value in more.remote.plain().items():
            add(["agents", name, key], sorted(value) if key == "headers" else value)
    for name, chosen in loaded.keys.items():
        add(["keys", *name.split(".")], chosen)
    for number, rule in enumerate(loaded.rules, 1):
        summary = f"{rule.do} {described(rule)}"
        add(files.rule_key(number), summary, shown=f"policy.rules {number}")
    return rows


def _shown(screen: Screen, row: Json) -> str:
    value = row["value"]
    text = dumps(value) if isinstance(value, list) else written(value) if value != "" else "not set"
    source = f"{files.FILE}, line {row['line']}" if row["line"] else "default"
    if "written" in row:
        source += f", which says {written(row['written'])}"
    line = f"{clean_line(row['key']):<27} {clean_line(text):<12} "
    return line + (source if row["line"] else screen.paint.faint(source))


# ---------------------------------------------------------------- confirm


@config.command(short_help="Confirm settings that were loosened while an agent was running.")
@flags.yes
@flags.results("Only show the settings, as JSON.")
def confirm(yes: bool) -> int:
    """Show which settings were loosened while an agent was running, and confirm them.

    An agent could have made such a change, so the old settings stay in force until you confirm.
    Changes made with Rookery's own commands and windows need no confirmation, nor do changes that
    only make things stricter. Covers config.toml, mcp.json and hooks.json in Rookery's home.

    \b
    rookery config confirm
    rookery config edit          to undo it instead
    """
    screen, home = standard(), paths.home()
    held = in_force.settings(home).held
    if screen.as_json:
        about = {"held": held.fingerprint, "loosens": held.loosens} if held else {"held": ""}
        screen.result(about)
        return exits.DONE
    if held is None:
        screen.note("Nothing to confirm.")
        return exits.DONE
    guard.require_person(home, "confirm settings")
    for sentence in held.loosens:
        screen.line(f"{screen.paint.mark('warn')} {clean_line(sentence)}")
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("Not a terminal: pass --yes.")
    if not yes and not click.confirm("Confirm these changes?", default=False, err=True):
        screen.note("Not confirmed. To undo the changes: rookery config edit")
        return exits.CANCELLED
    in_force.confirm(home, held.fingerprint)
    screen.note("Confirmed. Running sessions use the settings, too.")
    return exits.DONE


@config.command("trust-git")
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@flags.flag("--forget", help="No longer trust any of them.")
@flags.yes
@flags.results()
def trust_git(directory: str, yes: bool, forget: bool) -> int:
    """Trust the filters and merge drivers that a repository's own git configuration names.

    Rookery runs those of your global configuration only: an agent can write the repository's.
    Trust holds for these commands in this repository; if one changes, you are asked again.

    \b
    rookery config trust-git
    rookery config trust-git ~/project --forget
    """
    screen, home = standard(), paths.home()
    place = places.find(directory)
    if place is None:
        raise click.ClickException(f"{directory} is not in a git repository.")
    if forget:
        there = drivers.forget(home, place)
        screen.result({"directory": place.top, "trusted": []})
        screen.note("None of its programs is trusted now." if there else "Nothing was trusted.")
        return exits.DONE
    chosen = drivers.configured(place)
    if not chosen:
        screen.note("Its own configuration names no filter and no merge driver.")
        return exits.DONE
    if not trusted(screen, place, chosen, yes=yes):
        screen.note("Not trusted. Nothing runs.")
        return exits.CANCELLED
    screen.result({"directory": place.top, "trusted": [each.name for each in chosen]})
    screen.note("Trusted, until one of the commands changes.")
    return exits.DONE


# ---------------------------------------------------------------- explain


@config.command()
@click.argument("key", required=False)
@flags.results("Print one JSON object per setting.")
def explain(key: str | None) -> None:
    """Explain a setting: meaning, allowed values, when a change takes effect. Without KEY: all.

    \b
    rookery config explain silent_after
    rookery config explain worker.queue_drain
    """
    screen = standard()
    if key is None:
        for setting in definitions.SETTINGS:
            screen.result({"key": setting.key, "brief": setting.comment})
            screen.line(f"{setting.key:<27} {setting.comment}")
        return
    entry = definitions.find(key)
    if entry is None:
        raise click.BadParameter(_unknown(key), param_hint="KEY")
    loose = "any change" if entry.runs else "a looser value" if entry.strict_first else ""
    about = {
        "scopes": entry.scopes,
        "allowed": range_of(entry),
        "default": "none" if entry.default is None else written(entry.default),
        "example": f"{entry.name} = {entry.example}" if entry.example else "",
        "changes": f"take effect {entry.effect}",
        "secret": SECRET[entry in definitions.SINGLE] if entry.secret else "",
        "guarded": loose and f"{loose} written while an agent runs needs: rookery config confirm",
    }
    screen.result({"key": entry.key, "brief": entry.comment, "more": entry.more, **about})
    screen.line(f"{entry.key}: {entry.comment}")
    if entry.more:
        screen.line(f"  {entry.more}")
    for word, text in about.items():
        if text:
            screen.line(f"  {word:<9} {text}")


def _unknown(key: str) -> str:
    names = {word: each.key for each in definitions.SETTINGS for word in (each.name, each.key)}
    near = dict.fromkeys(names[word] for word in get_close_matches(key.lower(), names, 3))
    guess = f"Did you mean {' or '.join(near)}?" if near else LISTED
    return f"{clean_line(key)!r} is not a setting. {guess}"


# ---------------------------------------------------------------- set and edit


@config.command("set")
@click.argument("key")
@click.argument("value")
@flags.results()
def set_(key: str, value: str) -> None:
    """Set one value in config.toml; "default" removes it.

    \b
    rookery config set session.confirm ask-when-risky
    rookery config set default_agent claude
    rookery config set worker.cancel_grace default
    """
    setting = definitions.find(key)
    if setting is None or setting not in definitions.SINGLE:
        message = f"{clean_line(key)!r} is not a setting with one value. {LISTED}"
        raise click.BadParameter(message, param_hint="KEY")
    if setting is definitions.OLDER:
        message = "this is the old name. Use: rookery config set session.confirm all"
        raise click.BadParameter(message, param_hint="KEY")
    given = None if value == "default" else _typed(setting, value)
    change(paths.ensure_home(paths.home()), {setting.key: given})
    if (screen := standard()).as_json:
        screen.result(next(row for row in current(paths.home()) if row["key"] == setting.key))
    shown = "the default" if given is None else written(HIDDEN if setting.secret else given)
    screen.note(f"{setting.key} is now {clean_line(shown)}. It takes effect {setting.effect}.")


def _typed(setting: Setting, value: str) -> str | float | int | bool:
    """Convert the value to the setting's TOML type."""
    given: str | float | int | bool = typed({"type": setting.kind}, value) if value else value
    with suppress(ValueError):  # the file is checked as a whole, and the error said then
        return (setting.meant and isinstance(given, str) and setting.meant(given)) or given
    return given


@config.command()
def edit() -> int:
    """Edit a copy of config.toml in $VISUAL or $EDITOR. It replaces the file only if it is valid.

    If there is a mistake, its line is shown and, on a terminal, you can continue editing. The old
    file stays until then.
    """
    screen, home = standard(), paths.ensure_home(paths.home())
    guard.require_person(home, "change the settings")
    target = os.path.realpath(os.path.join(home, files.FILE))  # it may be a link to a person's own
    old = _bytes(target)
    with tempfile.TemporaryDirectory(prefix="edit-", dir=home) as directory:
        copy = os.path.join(directory, files.FILE)
        begun = definitions.template().encode() if old is None else old
        paths.write_atomic(copy, begun)
        while True:
            _open_editor(copy)
            new = _bytes(copy)
            if new is None or new == begun:
                screen.note("Nothing was changed.")
                return exits.DONE
            try:
                files.parse(new, target)
            except files.ConfigError as error:
                screen.note(clean_line(str(error)))
                if flags.in_terminal() and click.confirm("Continue editing?", True, err=True):
                    continue
                return _reject(screen, target, new)
            return _save(screen, home, target, old, new)


def _save(screen: Screen, home: str, target: str, old: bytes | None, new: bytes) -> int:
    with confirmed.locked(home):
        if _bytes(target) != old:
            screen.note(f"{target} was changed by another program in the meantime.")
            return _reject(screen, target, new)
        try:
            toml_file.replace(home, old or b"", new)
        except toml_file.NotEdited as error:
            screen.note(str(error))
            return _reject(screen, target, new)
    screen.note("\n".join(["Saved.", *_consequences(old, new, target)]))
    cli_settings.tell(in_force.settings(home))
    return exits.DONE


def _consequences(old: bytes | None, new: bytes, path: str) -> list[str]:
    """Return when each change takes effect, for those that do not take effect at once."""
    after = files.parse(new, path)
    try:
        before = files.parse(old or b"", path)
    except files.ConfigError:
        return ["Running sessions pick it up soon, or at their next command."]
    changed = [
        each
        for each in definitions.SINGLE
        if files.value_of(before, each) != files.value_of(after, each)
    ]
    changed += [
        each
        for field, known in definitions.SEVERAL.items()
        if getattr(before, field) != getattr(after, field)
        for each in known
    ]
    if not changed:
        return ["No setting changed."]
    later = [each for each in changed if each.effect != AT_ONCE]
    lines = [f"{each.key} takes effect {each.effect}." for each in later]
    if len(later) < len(changed):
        lines.insert(0, "Running sessions pick it up within half a minute.")
    return lines


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _open_editor(file: str) -> None:
    line = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        status = subprocess.run([*shlex.split(line), file], check=False).returncode
    except (OSError, ValueError) as error:
        message = f"could not start the editor {line!r}: {error}. Set EDITOR."
        raise click.ClickException(message) from None
    if status:
        raise click.ClickException(f"the editor {line!r} ended with {status}; nothing was changed.")


def _reject(screen: Screen, target: str, new: bytes) -> int:
    paths.write_atomic(target + REJECTED, new)
    screen.note(f"The old file is unchanged. Your version is in {target + REJECTED}.")
    return exits.FAILED
