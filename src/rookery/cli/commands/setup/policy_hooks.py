"""`policy hooks`: a project's hooks, and what the user said to them."""

import os

import click

from rookery.cli.output import Screen, clean_line
from rookery.client.project_hooks import trust as trusts
from rookery.client.project_hooks.found import Found, find
from rookery.core.json import safe_text
from rookery.home import paths
from rookery.sandbox.git import repository_of

STATES = {
    "trusted": "trusted: they run",
    "refused": "refused: they are left out",
    "unknown": "not decided: you are asked with the next prompt",
}


def show(screen: Screen, directory: str, *, trust: bool, forget: bool) -> None:
    home, cwd = paths.home(), os.path.realpath(directory)
    found = find(home, cwd)
    found = found if found and found.hooks else None
    if forget:
        _forget(screen, home, cwd)
    elif trust:
        _trust(screen, home, found)
    if screen.as_json:
        _as_json(screen, home, found)
    elif not forget and not trust:
        _list(screen, home, found)


def _trust(screen: Screen, home: str, found: Found | None) -> None:
    if found is None:
        raise click.ClickException("This project has no hooks.")
    if found.fault:
        raise click.ClickException(f"These hooks cannot be trusted: {found.fault}.")
    _print(screen, found)
    trusts.remember(home, found, trusts=True)
    screen.note("Trusted. To undo: rookery policy hooks --forget")


def _forget(screen: Screen, home: str, cwd: str) -> None:
    if not trusts.forget(home, repository_of(cwd)[1]):
        raise click.ClickException("You have not decided about this project's hooks.")
    screen.note("Forgotten: they no longer run, and you are asked again with the next prompt.")


def _list(screen: Screen, home: str, found: Found | None) -> None:
    if found is None:
        screen.note("This project has no hooks.")
    else:
        _print(screen, found)
        said = f"cannot be trusted: {found.fault}" if found.fault else ""
        screen.note(said or STATES[trusts.state(home, found)])
        if not said and trusts.state(home, found) != "trusted":
            screen.note("To trust them: rookery policy hooks --trust")
    for project, (yes, no) in trusts.projects(home).items():
        if found is None or project != found.project:
            screen.line(clean_line(f"{_place(project)}  {yes} trusted, {no} refused"))


def _print(screen: Screen, found: Found) -> None:
    for line in safe_text.shown(found.script()).text.split("\n"):
        screen.line(clean_line(line))


def _as_json(screen: Screen, home: str, found: Found | None) -> None:
    if found is not None:
        about = {"project": _place(found.project), "state": trusts.state(home, found)}
        hooks = [hook._asdict() for hook in found.hooks]
        screen.result({**about, "hooks": hooks, "files": list(found.files)})
    for project, (yes, no) in trusts.projects(home).items():
        if found is None or project != found.project:
            screen.result({"project": _place(project), "trusted": yes, "refused": no})


def _place(project: str) -> str:
    """A repository by the directory that it is in."""
    return project.removesuffix("/.git")
