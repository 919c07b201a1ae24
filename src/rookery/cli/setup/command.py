"""`setup`: its flags, the test of a model, and what is printed about both."""

import os
from collections.abc import Callable
from typing import Any

import click

from rookery.agents import registry
from rookery.cli import exits, flags
from rookery.cli.aliases import Verbs
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.setup import dialogue
from rookery.cli.setup.dialogue import is_saved_anyway, read_key, tested
from rookery.cli.setup.importing import import_from
from rookery.cli.setup.keys import given_key
from rookery.cli.setup.login import agree, begin, log_in
from rookery.cli.setup.search import search
from rookery.client import warm_agent
from rookery.client.guard import require_person
from rookery.client.start import connectable
from rookery.home import config, paths
from rookery.models import own_agent, profiles, saved_models, subscriptions
from rookery.models.documents import SettingsError
from rookery.models.draft import BadDraft, Draft, profile_of
from rookery.models.providers import PROVIDERS

PROVIDER_NAMES = ", ".join(each.name for each in PROVIDERS)
NO_MODEL = "none"
"""Given instead of a saved model: use none."""


@click.group(cls=Verbs, invoke_without_command=True)
@click.option("--provider", default="", metavar="NAME", help=f"Provider: {PROVIDER_NAMES}.")
@flags.text("--model", metavar="MODEL", help="PROVIDER/MODEL, or a model of --provider.")
@flags.text("--key", metavar="KEY", help="API key. Stays in your shell history; better:")
@flags.key_stdin
@flags.key_env
@flags.text("--base-url", metavar="URL", help="API address (none: the provider's own).")
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds per answer (0: default).")
@click.option("--name", default="", metavar="NAME", help="Name for this model.")
@click.option(
    "--fallback",
    default="",
    metavar="NAME",
    shell_complete=flags.complete_models,
    help="Saved model that answers if this one cannot (none: no such model).",
)
@click.option("--default", "default", is_flag=True, help="Use it for new sessions.")
@click.option("--no-test", is_flag=True, help="Save it without testing it.")
@click.option("--test", "trial", is_flag=True, help="Test it without saving it.")
@click.option("--list", "listing", is_flag=True, hidden=True)
@click.option("--remove", default="", metavar="NAME", hidden=True)
@flags.results("Print JSON.")
@click.pass_context
def setup(context: click.Context, /, listing: bool, remove: str, **given: Any) -> int:
    """Choose the model for Rookery's own agent: a provider, a model and a key.

    On a terminal, asks for what you leave out. The model is tested before it is saved to
    agent_settings.json in Rookery's home, which only you can read. You can save several; new
    sessions use the first one, or the one saved with --default.

    \b
    rookery setup
    rookery setup --provider anthropic --model claude-sonnet-5-5 --key-env ANTHROPIC_API_KEY
    rookery setup --model ollama_chat/qwen3 --name local
    rookery setup --name local --default
    rookery setup --name work --fallback local
    rookery setup list
    rookery setup remove local
    rookery setup search
    rookery setup import
    """
    screen, home = standard(), paths.home()
    if not listing and context.invoked_subcommand != "list":
        require_person(home, "set up models")
    if context.invoked_subcommand is not None:
        return exits.DONE
    if listing:
        return int(context.invoke(list_))
    if remove:
        return _remove(screen, home, remove)
    try:
        return _set_up(screen, home, given)
    except BadDraft as error:
        if screen.as_json:
            _tell(screen, saved_models.Outcome(False, f"{error}.", error.field))
            return exits.USAGE
        raise _refused(error) from None
    except click.Abort:
        screen.note("\nNothing was saved.")
        return exits.CANCELLED


def _tell(screen: Screen, outcome: saved_models.Outcome) -> int:
    """Print the outcome for programs; return the exit code. `option`: the wrong flag."""
    option = _flag(outcome.field) if outcome.field else ""
    screen.result({"ok": outcome.ok, "words": outcome.message, "option": option})
    return exits.DONE if outcome.ok else exits.USAGE if option else exits.FAILED


def _flag(field: str) -> str:
    return "--key-env" if field == "key" else f"--{field.replace('_', '-')}"


def _refused(error: BadDraft) -> click.ClickException:
    return click.BadParameter(f"{error}.", param_hint=_flag(error.field))


def _show(work: Callable[[], str]) -> int:
    screen = standard()
    try:
        sentence = work()
    except BadDraft as error:
        raise _refused(error) from None
    screen.line(clean_line(sentence))
    return _tell(screen, saved_models.Outcome(True, sentence))


def _wanted(given: dict[str, Any], *names: str) -> dict[str, Any]:
    wanted = {key: value for key, value in given.items() if value is not None}
    return wanted | {name: "" for name in names if wanted.get(name) == NO_MODEL}


@setup.command("list")
@flags.results("Print one JSON object per model.")
def list_() -> int:
    """List the saved models, and which one new sessions use.

    \b
    rookery setup list
    """
    screen, settings = standard(), profiles.load(paths.home())
    for each in settings.profiles.values():
        now = each == settings.chosen
        model = profiles.effective(settings, os.environ, override=False, profile=each.name)
        usable = not isinstance(model, profiles.Missing)
        if subscriptions.is_one(each.extras):
            usable = subscriptions.is_logged_in(paths.home())
        row = {"name": each.name, "model": each.model, "baseUrl": each.base_url or None}
        row["fallback"] = each.fallback or None
        screen.result({**row, "key": bool(each.key), "default": now, "usable": usable})
        key = (
            "key saved"
            if each.key
            else "subscription"
            if subscriptions.is_one(each.extras)
            else ("no key needed" if usable else "no key")
        )
        gone = "" if each.fallback in settings.profiles else " (not saved)"
        then = f"then {each.fallback}{gone}" if each.fallback else ""
        cells = (each.name, each.model, each.base_url, key, then, "default" if now else "")
        mark = screen.paint.mark("done" if usable else "failed")
        screen.line(f"{mark}  " + "  ".join(clean_line(word) for word in cells if word))
    if not settings.profiles and not screen.as_json:
        screen.note("No model is set up. Run: rookery setup")
    return exits.DONE


@setup.command("remove")
@click.argument("name")
@flags.results()
def remove_(name: str) -> int:
    """Remove a saved model.

    \b
    rookery setup remove local
    """
    try:
        return _remove(standard(), paths.home(), name)
    except click.BadParameter as error:
        error.param_hint = "NAME"
        raise


def _remove(screen: Screen, home: str, name: str) -> int:
    _show(lambda: saved_models.forget(home, name))
    if default := profiles.load(home).default:
        screen.note(f"New sessions use {default}.")
    return exits.DONE


@setup.command("import")
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    metavar="DIR",
    help="OpenHands directory (default: OPENHANDS_PERSISTENCE_DIR or ~/.openhands).",
)
@click.option("--replace", is_flag=True, help="Replace entries with the same name.")
@flags.results("Print one JSON object per entry.")
def import_(source: str | None, replace: bool) -> int:
    """Import models, MCP servers, hooks, settings and conversations from OpenHands. Nothing is
    changed there.

    Existing entries with the same name are kept unless you pass --replace. Conversations are
    copied; to make sessions of them: rookery import --agent rookery --all

    \b
    rookery setup import
    rookery setup import --from /mnt/old/home/.openhands
    """
    return import_from(standard(), paths.home(), source, replace=replace)


@setup.command()
@flags.text("--model", metavar="MODEL", help=f"Such as {', '.join(subscriptions.MODELS)}.")
@click.option("--name", default="", metavar="NAME", help="Name for this model (default: chatgpt).")
@click.option("--device-code", "device", is_flag=True, help="Log in on another device.")
@click.option("--default", "default", is_flag=True, help="Use it for new sessions.")
@click.option("--yes", "agreed", is_flag=True, help="Agree to OpenAI's terms of use.")
@click.option("--base-url", default="", hidden=True)
@click.option("--issuer", default="", hidden=True)
@flags.results()
def login(model: str, agreed: bool, **given: Any) -> int:
    """Use a ChatGPT subscription instead of a key: log in with your browser.

    Without a browser on this machine you get a code to enter on another one. The tokens are saved
    in Rookery's home, where only you can read them, and are renewed by themselves.

    \b
    rookery setup login
    rookery setup login --model gpt-5.5 --device-code
    """
    agree(standard(), agreed=agreed)
    try:
        model = model or subscriptions.MODELS[0]
        return log_in(standard(), paths.home(), model=model, **given)
    except BadDraft as error:
        raise _refused(error) from None


@setup.command()
@flags.results()
def logout() -> int:
    """Forget the tokens of `rookery setup login`. The saved model stays.

    \b
    rookery setup logout
    """
    was = subscriptions.log_out(paths.home())
    return _show(lambda: "You are logged out." if was else "You were not logged in.")


@setup.command()
@click.option("--on/--off", "enabled", default=None, help="Summarise long conversations, or never.")
@click.option("--share", type=int, metavar="N", help="Summarise when N % of the context is used.")
@click.option(
    "--max-size", type=int, metavar="N", help="Also summarise above N events (0: no limit)."
)
@click.option("--keep-first", type=int, metavar="N", help="First events to keep as they are.")
@click.option("--profile", metavar="NAME", help="Model that summarises (none: their own).")
@flags.results()
def condenser(**given: Any) -> int:
    """Show or choose when a long conversation is shortened: everything but its beginning and end is
    summarised; its plan and the names of the files it edited are kept. Applies to sessions of
    Rookery's own agent started from then on.

    \b
    rookery setup condenser
    rookery setup condenser --share 60
    rookery setup condenser --off
    """
    try:
        return _show(lambda: saved_models.condense(paths.home(), _wanted(given, "profile")))
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


@setup.command()
@click.option("--on/--off", "enabled", default=None, help="Judge finished turns, or never.")
@click.option("--judge", metavar="NAME", help="Saved model used as the judge (or none).")
@flags.results()
def critic(**given: Any) -> int:
    """Show or choose what judges the turns of Rookery's own agent. For a command that judges any
    agent's turns, and for what a poor verdict does, see [critic] in config.toml: rookery config

    \b
    rookery setup critic
    rookery setup critic --judge big
    rookery setup critic --off
    """
    return _show(lambda: saved_models.judge(paths.home(), _wanted(given, "judge")))


setup.add_command(search)

# ---------------------------------------------------------------- set up


def _set_up(screen: Screen, home: str, given: dict[str, Any]) -> int:
    settings = profiles.load(home)
    texts = {name: given[name].strip() for name in ("provider", "model", "name", "fallback")}
    draft = Draft(
        key=given_key(given), base_url=given["base_url"], timeout=given["timeout"], **texts
    )
    known = settings.profiles.get(draft.name)
    if known is not None and given["default"] and draft == Draft(name=draft.name):
        return _show(lambda: saved_models.use(home, known.name))
    if known is not None and draft.fallback and draft[:-1] == Draft(name=known.name)[:-1]:
        return _fall_back(screen, home, draft, given)
    asking = flags.in_terminal() and not given["key_stdin"]
    if asking and not draft.model and (known is None or not known.model):
        draft = draft._replace(provider=draft.provider or dialogue.choose_provider(screen))
        if draft.provider == dialogue.SUBSCRIPTION:
            return begin(screen, home, draft.name, default=given["default"])
        draft = dialogue.ask(screen, draft, settings)
    if not draft.model and not draft.provider and known is None:
        _refuse_nothing(draft)
    if screen.as_json:
        options = {"test": not given["no_test"], "keep": not given["trial"]}
        return _tell(screen, saved_models.attempt(home, draft, default=given["default"], **options))
    profile = profile_of(draft, settings.profiles.get(draft.name))
    saved_models.check_fallback(settings, draft)
    if saved_models.lacks_key(profile):
        if not asking:
            raise BadDraft("key", f"{profile.model} needs a key (or pipe it to --key-stdin)")

        key = read_key(screen, f"Key for {profile.model} (not shown)")
        profile = profile._replace(key=key)
    if not given["no_test"]:
        answer, profile = tested(screen, profile, asking=asking and not given["trial"])
        if given["trial"] or not (answer.ok or is_saved_anyway(screen, asking=asking)):
            return exits.DONE if answer.ok else exits.FAILED
    saved_models.saved(home, profile, default=given["default"])
    code = _tell_saved(screen, home, profile)
    if asking and not config.load_or_defaults(home).web.searches:
        screen.note("To let it search the web, too: rookery setup search")
    return code


def _fall_back(screen: Screen, home: str, draft: Draft, given: dict[str, Any]) -> int:
    """Set the fallback of a saved model, if nothing else is given."""

    def done() -> str:
        sentence = saved_models.fall_back(home, draft)
        return f"{sentence} {saved_models.use(home, draft.name)}" if given["default"] else sentence

    return _tell(screen, saved_models.outcome(done)) if screen.as_json else _show(done)


def _refuse_nothing(draft: Draft) -> None:
    if draft.name:
        raise BadDraft("name", f"there is no saved model {draft.name!r}; a new one needs --model")
    raise click.UsageError(
        "nothing to set up. Pass --model, or run it in a terminal to be asked. For example:\n"
        "  rookery setup --provider anthropic --model claude-sonnet-5-5 --key-env ANTHROPIC_API_KEY"
    )


def _tell_saved(screen: Screen, home: str, profile: profiles.Profile) -> int:
    default = profiles.load(home).default
    screen.line(f"Saved {profile.name} ({clean_line(profile.model)}) in {profiles.path(home)}.")
    missing = own_agent.is_missing()
    if default == profile.name and not missing:
        warm_agent.ahead(home, connectable)  # the first session finds the agent loaded
    screen.status("Checking that Rookery's own agent starts …")
    fault = "" if missing else own_agent.fault()
    screen.status("")
    if fault:
        screen.note(f"But Rookery's own agent is not usable yet: {clean_line(fault)}")
        return exits.FAILED
    change = f"rookery setup --name {profile.name} --default"
    other = f"New sessions use {default}; to change that: {change}"
    screen.note('New sessions use it: rookery run "…"' if default == profile.name else other)
    if missing:
        screen.note(registry.missing_extra("Rookery's own agent", registry.OWN_EXTRA))
    return exits.DONE
