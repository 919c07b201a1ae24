"""`setup search`: chooses who searches the web for Rookery's own agent."""

from typing import Any

import click

from rookery.agent.web.connection import Fetch
from rookery.agent.web.failure import Failure
from rookery.agent.web.search import search as try_it
from rookery.cli import exits, flags
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.setup import dialogue
from rookery.cli.setup.dialogue import is_saved_anyway
from rookery.cli.setup.keys import given_key
from rookery.client.config.edit import change
from rookery.core.settings.web import CHOICES, NONE, PROVIDERS, SEARXNG, Web
from rookery.home import config, paths
from rookery.models.draft import BadDraft, checked_url

TITLES = {name: f"{title} ({about})" if about else title for name, title, about in CHOICES}
EXAMPLE = "http://localhost:8888"
QUERY = "Agent Client Protocol"
"""Searched for in the test."""
FLAGS = {"key": "--key-env", "key_stdin": "--key-stdin", "base_url": "--url"}
UNSET = "No search provider is set, so there is no web_search. To set one: rookery setup search"


@click.command()
@click.option("--provider", type=click.Choice(PROVIDERS), help="Search provider.")
@flags.text("--key", metavar="KEY", help="API key. Stays in your shell history; better:")
@flags.key_stdin
@flags.key_env
@flags.text("--url", metavar="URL", help="Its address. SearXNG needs one.")
@click.option("--no-test", is_flag=True, help="Save it without testing it.")
@flags.results()
def search(provider: str | None, url: str, no_test: bool, **given: Any) -> int:
    """Show or choose who searches the web for Rookery's own agent (web_search).

    On a terminal, asks for what you leave out. A search is tried before anything is saved to
    config.toml. Applies to sessions started from then on.

    \b
    rookery setup search
    rookery setup search --provider brave --key-env BRAVE_API_KEY
    rookery setup search --provider searxng --url http://localhost:8888
    rookery setup search --provider none
    """
    screen, home = standard(), paths.ensure_home(paths.home())
    saved, asking = config.load(home).web, flags.in_terminal() and not given["key_stdin"]
    try:
        key = given_key(given).reveal()
        if not asking and not (provider or key or url):
            return _show(screen, saved)
        draft = Web(search=provider or "", search_key=key, search_url=checked_url(url))
        wanted = _completed(screen, saved, draft, asking=asking)
    except BadDraft as error:
        raise click.BadParameter(f"{error}.", param_hint=FLAGS[error.field]) from None
    except click.Abort:
        screen.note("\nNothing was saved.")
        return exits.CANCELLED
    if wanted.search != NONE and not no_test and not _is_tested(screen, wanted, asking=asking):
        return exits.FAILED
    values = {"web.search": wanted.search, "web.search_key": wanted.search_key or None}
    change(home, {**values, "web.search_url": wanted.search_url or None})
    return _show(screen, wanted)


def _show(screen: Screen, web: Web) -> int:
    about = {"provider": web.search, "url": web.search_url or None, "key": bool(web.search_key)}
    screen.result(about)
    screen.line(_described(web))
    return exits.DONE


def _described(web: Web) -> str:
    if web.search == NONE:
        return UNSET
    where = f" at {clean_line(web.search_url)}" if web.search_url else ""
    return web.lacking or f"New sessions search the web with {web.search}{where}."


def _completed(screen: Screen, saved: Web, draft: Web, *, asking: bool) -> Web:
    """Return the draft with what was missing: the saved value for the same provider, or one asked
    for. Raises BadDraft, click.Abort."""
    chosen = draft.search
    if not chosen and asking:
        chosen = dialogue.choose(screen, "Who searches the web?", [*TITLES.values()], [*TITLES])
    chosen = chosen or saved.search
    if chosen == NONE:
        return Web()
    same = saved if chosen == saved.search else Web()
    address = draft.search_url or same.search_url
    if chosen == SEARXNG:
        if not address and asking:
            address = dialogue.read_url("Its address", EXAMPLE, EXAMPLE)
        if not address:
            raise BadDraft("base_url", f"searxng needs an address, such as {EXAMPLE}")
        return Web(search=chosen, search_url=address)
    key = draft.search_key or same.search_key
    if not key and asking:
        key = dialogue.read_key(screen, "Key (not shown)").reveal()
    if not key:
        raise BadDraft("key", f"{chosen} needs a key (or pipe it to --key-stdin)")
    return Web(search=chosen, search_key=key, search_url=address)


def _is_tested(screen: Screen, wanted: Web, *, asking: bool) -> bool:
    """Tell whether to save it: a search worked, or the user wants it anyway."""
    screen.note(f"Testing {wanted.search} …")
    try:
        results = try_it(Fetch("*"), wanted, QUERY)
    except Failure as error:
        screen.note(clean_line(str(error)))
        return is_saved_anyway(screen, asking=asking)
    screen.note(f"It works: {len(results)} results.")
    return True
