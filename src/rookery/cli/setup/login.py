"""`setup login` and `setup logout`: use a model that is paid by a ChatGPT subscription."""

import os
import sys

import click

from rookery.cli import exits
from rookery.cli.output import Screen, clean_line
from rookery.core.json import Json, lenient
from rookery.models import profiles, saved_models, subscriptions
from rookery.models.draft import checked_name, checked_url

TERMS = "https://openai.com/policies/terms-of-use/"
NAME = "chatgpt"
SHOWN = ("DISPLAY", "WAYLAND_DISPLAY")


def has_browser() -> bool:
    """Tell whether a browser can be opened: on Linux, if there is a display; not over SSH, where it
    would open on the wrong machine."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in SHOWN)


def agree(screen: Screen, *, agreed: bool) -> None:
    screen.note(f"This uses your ChatGPT account, under OpenAI's terms of use: {TERMS}")
    if agreed:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("Not a terminal: pass --yes to agree to the terms.")
    click.confirm("Continue?", abort=True, err=True)


def begin(screen: Screen, home: str, name: str, *, default: bool) -> int:
    """Log in from the dialogue of `rookery setup`, and return the exit code."""
    agree(screen, agreed=False)
    usual = subscriptions.MODELS[0]
    return log_in(
        *(screen, home),
        model=usual,
        name=name,
        base_url="",
        issuer="",
        device=False,
        default=default,
    )


def log_in(
    screen: Screen,
    home: str,
    *,
    model: str,
    name: str,
    base_url: str,
    issuer: str,
    device: bool,
    default: bool,
) -> int:
    name = checked_name(name) or NAME
    base_url, issuer = checked_url(base_url), checked_url(issuer)
    known = profiles.load(home).profiles.get(name)
    if known is not None and not subscriptions.is_one(known.extras):
        raise click.UsageError(f"{name} is a saved model with a key: pass another --name.")
    by_code = device or not has_browser()
    if by_code and not device:
        screen.note("There is no browser on this machine: log in with a code on any other.")

    def tell(news: Json) -> None:
        if not (url := clean_line(lenient.text(news, "url"))):
            return
        if code := clean_line(lenient.text(news, "code")):
            screen.note(f"Open {url} and enter the code {code}. Never share it with anybody.")
        else:
            screen.note(f"Your browser opens. If it does not, open: {url}")

    try:
        subscriptions.log_in(home, device=by_code, issuer=issuer, tell=tell)
    except subscriptions.NotLoggedIn as error:
        screen.note(f"You are not logged in. {clean_line(str(error))}")
        if not by_code:
            screen.note("To log in with a code instead: rookery setup login --device-code")
        return exits.FAILED
    made = subscriptions.profile_of(name, model, base_url, issuer, known)
    saved_models.saved(home, made, default=default)
    screen.result({"name": made.name, "model": made.model})
    screen.line(f"You are logged in. Saved {made.name} ({made.model}).")
    return exits.DONE
