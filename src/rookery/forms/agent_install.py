"""Installing an agent, as every face does it: what will be run, and what to do afterwards."""

import os
import shlex

from rookery.agents import install as installing
from rookery.agents import programs, registry
from rookery.client.guard import require_person
from rookery.core.json.safe_text import clean_line
from rookery.home import paths


def prepare(home: str, name: str, node_path: str) -> installing.Plan:
    """Raises FromAgent, UnknownAgent, InstallError."""
    require_person(home, "install agents")
    if name not in registry.AGENTS and not installing.is_installable(home, name):
        # those of config.toml are the user's own programs
        raise registry.UnknownAgent(name, list(registry.AGENTS))
    _refuse_other(home, name, node_path)
    return installing.plan(home, name, os.environ, node_path)


def _refuse_other(home: str, name: str, node_path: str) -> None:
    """What is installed elsewhere is updated by what installed it."""
    program = installing.program_of(home, name)
    found = programs.find(program, os.environ, node_path=node_path) if program else None
    ours = installing.folder(home, name) + os.sep
    if found and not found.startswith(ours):
        place = paths.with_tilde(clean_line(found))
        raise installing.InstallError(f"{name} is already installed: {place}.")


def described(plan: installing.Plan) -> list[str]:
    """What will be run, and where it goes."""
    packages = " and ".join(plan.recipe.packages)
    verb = "Updates" if os.path.isdir(plan.place) else "Installs"
    head = f"{verb} {packages} ({plan.recipe.source}) in {paths.with_tilde(plan.place)}:"
    if plan.download is not None:
        checked = "the registry's checksum" if plan.download.sha256 else "none; its digest is kept"
        about = f"  version {plan.download.version or 'unknown'}, checksum: {checked}"
        return [clean_line(head), clean_line(about)]
    return [head, *(f"  {clean_line(shlex.join(line))}" for line in plan.commands)]


def run(home: str, plan: installing.Plan, watch: installing.Watch | None = None) -> None:
    """Raises InstallError, OSError."""
    paths.ensure_home(home)
    installing.install(plan, os.environ, watch)


def login_hint(name: str) -> str:
    variables = registry.AGENTS[name].environment if name in registry.AGENTS else ()
    return f"It needs a login, or {' or '.join(variables)} in the environment." if variables else ""
