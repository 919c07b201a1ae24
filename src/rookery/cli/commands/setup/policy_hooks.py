"""`policy hooks`: shows a project's hooks and whether the user trusts them, and changes that."""

import os

import click

from rookery.cli.output import Screen, clean_line
from rookery.client.project_hooks import trust as trusts
from rookery.client.project_hooks.hook_file import HookFile, find
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
    project_hooks = find(home, cwd)
    project_hooks = project_hooks if project_hooks and project_hooks.hooks else None
    if forget:
        _forget(screen, home, cwd)
    elif trust:
        _trust(screen, home, project_hooks)
    if screen.as_json:
        _as_json(screen, home, project_hooks)
    elif not forget and not trust:
        _list(screen, home, project_hooks)


def _trust(screen: Screen, home: str, project_hooks: HookFile | None) -> None:
    if project_hooks is None:
        raise click.ClickException("This project has no hooks.")
    if project_hooks.fault:
        raise click.ClickException(f"These hooks cannot be trusted: {project_hooks.fault}.")
    _print(screen, project_hooks)
    trusts.remember(home, project_hooks, trusts=True)
    screen.note("Trusted. To undo: rookery policy hooks --forget")


def _forget(screen: Screen, home: str, cwd: str) -> None:
    if not trusts.forget(home, repository_of(cwd)[1]):
        raise click.ClickException("You have not decided about this project's hooks.")
    screen.note("Forgotten: they no longer run, and you are asked again with the next prompt.")


def _list(screen: Screen, home: str, project_hooks: HookFile | None) -> None:
    if project_hooks is None:
        screen.note("This project has no hooks.")
    else:
        _print(screen, project_hooks)
        problem = f"cannot be trusted: {project_hooks.fault}" if project_hooks.fault else ""
        screen.note(problem or STATES[trusts.state(home, project_hooks)])
        if not problem and trusts.state(home, project_hooks) != "trusted":
            screen.note("To trust them: rookery policy hooks --trust")
    for project, (yes, no) in trusts.projects(home).items():
        if project_hooks is None or project != project_hooks.project:
            screen.line(clean_line(f"{_place(project)}  {yes} trusted, {no} refused"))


def _print(screen: Screen, project_hooks: HookFile) -> None:
    for line in safe_text.shown(project_hooks.script()).text.split("\n"):
        screen.line(clean_line(line))


def _as_json(screen: Screen, home: str, project_hooks: HookFile | None) -> None:
    if project_hooks is not None:
        about = {
            "project": _place(project_hooks.project),
            "state": trusts.state(home, project_hooks),
        }
        hooks = [hook._asdict() for hook in project_hooks.hooks]
        screen.result({**about, "hooks": hooks, "files": list(project_hooks.files)})
    for project, (yes, no) in trusts.projects(home).items():
        if project_hooks is None or project != project_hooks.project:
            screen.result({"project": _place(project), "trusted": yes, "refused": no})


def _place(project: str) -> str:
    """Return the project's path, a repository by the directory that contains it."""
    return project.removesuffix("/.git")
