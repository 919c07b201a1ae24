"""Installing an agent, for every face: the commands that will be run, and what to do afterwards."""

import atexit
import os
import shlex
import threading
from collections import deque
from typing import Literal

from rookery.agents import install as installing
from rookery.agents import programs, registry
from rookery.client.config import in_force
from rookery.client.guard import require_person
from rookery.core.json.safe_text import clean_line
from rookery.home import paths


def prepare(home: str, name: str) -> installing.Plan:
    """Plan an installation. Raises FromAgent, UnknownAgent, InstallError, ConfigError."""
    node_path = in_force.load(home).node_path
    require_person(home, "install agents")
    if name not in registry.AGENTS and not installing.is_installable(home, name):
        # those of config.toml are the user's own programs
        raise registry.UnknownAgent(name, list(registry.AGENTS))
    _refuse_other(home, name, node_path)
    return installing.plan(home, name, os.environ, node_path)


def _refuse_other(home: str, name: str, node_path: str) -> None:
    """Refuse an agent that is installed elsewhere: it must be updated by what installed it."""
    program = installing.program_of(home, name)
    path = programs.find(program, os.environ, node_path=node_path) if program else None
    ours = installing.folder(home, name) + os.sep
    if path and not path.startswith(ours):
        place = paths.with_tilde(clean_line(path))
        raise installing.InstallError(f"{name} is already installed: {place}.")


def described(plan: installing.Plan) -> list[str]:
    """Describe what will be run, and where it goes."""
    packages = " and ".join(plan.recipe.packages)
    verb = "Updates" if os.path.isdir(plan.place) else "Installs"
    head = f"{verb} {packages} ({plan.recipe.source}) in {paths.with_tilde(plan.place)}:"
    if plan.download is not None:
        checked = "the registry's checksum" if plan.download.sha256 else "none; its digest is kept"
        about = f"  version {plan.download.version or 'unknown'}, checksum: {checked}"
        return [clean_line(head), clean_line(about)]
    return [head, *(f"  {clean_line(shlex.join(line))}" for line in plan.commands)]


def run(home: str, plan: installing.Plan, watch: installing.Watch | None = None) -> None:
    """Install an agent. Raises InstallError, OSError."""
    paths.ensure_home(home)
    installing.install(plan, os.environ, watch)


def login_hint(name: str) -> str:
    variables = registry.AGENTS[name].environment if name in registry.AGENTS else ()
    return f"It needs a login, or {' or '.join(variables)} in the environment." if variables else ""


# --- beside what else the process does -----------------------------------------------------------

LINES = 40
"""How many of the last lines of the output are kept."""


class Job:
    """An installation in the background; it ends with the process."""

    def __init__(self, home: str, name: str, plan: installing.Plan) -> None:
        self._home, self._name, self._plan = home, name, plan
        self.plan_text = described(plan)  # before there is anything of it
        self.state: Literal["running", "done", "failed"] = "running"
        self.message = ""
        self._output = deque[str](maxlen=LINES)
        self._watch = installing.Watch(self._output.append)

    @property
    def output(self) -> list[str]:
        return [clean_line(line) for line in list(self._output)]

    def run(self) -> None:
        try:
            run(self._home, self._plan, self._watch)
        except (installing.InstallError, OSError) as error:
            self.state, self.message = "failed", clean_line(str(error))
        else:
            self.state, self.message = "done", login_hint(self._name)

    def cancel(self) -> None:
        if self.state == "running":
            self._watch.cancel()


_lock = threading.Lock()
_jobs: dict[tuple[str, str], Job] = {}
"""The last job of each home and agent."""


@atexit.register
def _end() -> None:
    for job in _jobs.values():
        job.cancel()


def job_of(home: str, name: str) -> Job | None:
    return _jobs.get((home, name))


def begun(home: str, name: str) -> Job:
    """Start an installation, one at a time for each agent. Raises what `prepare` raises."""
    plan = prepare(home, name)
    with _lock:
        job = job_of(home, name)
        if job is None or job.state != "running":
            job = _jobs[home, name] = Job(home, name, plan)
            threading.Thread(target=job.run, name=f"install {name}", daemon=True).start()
    return job
