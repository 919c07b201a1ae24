"""Creating a session from the options that `run` and `new` share."""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, override

import click

from rookery import models
from rookery import sandbox as sandboxes
from rookery.agents import registry
from rookery.cli import elsewhere, flags, target
from rookery.cli import settings as cli_settings
from rookery.cli.output import Screen, clean_line, standard
from rookery.client.create import default_sandbox
from rookery.core import budgets
from rookery.core.settings.sandbox import CONTAINER
from rookery.core.vendors import options as agent_options
from rookery.core.vendors.environment import OVERRIDE, overriding
from rookery.home import config, paths
from rookery.models.choice import default_agent

if TYPE_CHECKING:
    from rookery.core.policy.unattended import Order


class SessionSpec(NamedTuple):
    """The settings of a new session."""

    agent: registry.Agent
    argv: list[str]
    """Logged only for --cmd: a name is looked up at each start."""
    cwd: str
    roots: tuple[str, ...]
    title: str
    critic: bool | None = None
    refine: bool | None = None
    sandbox: str = ""
    budget: Mapping[str, str] = MappingProxyType({})
    worktree: str | None = None
    picks: Mapping[str, str] = MappingProxyType({})
    about: str = ""
    """What was chosen for the user, for whoever may wonder."""

    def create(self, order: "Order | None" = None, race: str = "", confirm: str = "") -> str:
        """Create the session and return its id. `order`: how asks are answered if the user is not
        asked; else `confirm`: when the user is."""
        given = self._asdict() | {"agent": self.agent.name, "race": race, "confirm": confirm}
        del given["about"]
        return target.rookery().create(order=order, report=_say, **given)


def _say(text: str) -> None:
    standard().note(clean_line(text))


AGENT = "Name of the agent; `--agent help` lists them."
BUDGET = (
    'Ask before this session uses more: "500k tokens", "2 USD". For a turn or a day: '
    '"turn=500k tokens". Repeatable.'
)
WORKTREE = (
    "Work in a git worktree and branch of its own (rookery/NAME), not in the directory itself."
)
MODEL = "Model (for Rookery's agent: one of `rookery setup list`)."
ROOT = "Another directory the agent may use. Repeatable."


class Directory(click.Path):
    """The type of an argument: an existing directory. Another machine checks its own."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if target.rookery().address:
            return value
        if value == "":  # an empty variable of a script, not the directory that it runs in
            self.fail("The directory's name is empty.", param, ctx)
        return super().convert(value, param, ctx)


class Budget(click.ParamType[tuple[str, str]]):
    name = "budget"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return budgets.chosen(str(value))
        except budgets.BadBudget as error:
            self.fail(f"{value!r} {error}.", param, ctx)


def _work_directory() -> str:
    """Return this machine's work directory, or "" if another machine is used."""
    return "" if target.rookery().address else paths.work_directory()


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    directory = Directory(exists=True, file_okay=False, resolve_path=True)
    for option in (
        flags.text("--title", metavar="TEXT", help="Title (default: the prompt's first line)."),
        flags.several("--budget", "budgets_", type=Budget(), metavar="BUDGET", help=BUDGET),
        flags.several("--root", "roots", type=directory, metavar="DIR", help=ROOT),
        click.option("--worktree", is_flag=False, flag_value="", metavar="[NAME]", help=WORKTREE),
        flags.override,
        flags.sandbox,
        click.option(
            "--cwd",
            type=directory,
            default=_work_directory,
            show_default=False,
            metavar="DIR",
            help="Working directory (default: $ROOKERY_WORK_DIR, or the current one).",
        ),
        flags.line,
        click.option("--agent", metavar="NAME", shell_complete=flags.complete_agents, help=AGENT),
    ):
        command = option(command)
    return flags.critic(command)


def picks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the model, mode and place that a single agent starts with; of several
    agents, each has its own."""
    model = flags.text("--model", metavar="NAME", help=MODEL)
    mode = flags.text("--mode", metavar="NAME", help="Mode, such as plan.")
    return model(mode(flags.elsewhere(command)))


def wanted(  # noqa: PLR0913 - each is an option
    screen: Screen,
    agent: str | None,
    line: str | None,
    *,
    cwd: str,
    roots: tuple[str, ...],
    title: str,
    override: bool,
    no_critic: bool,
    refine: bool,
    sandbox: str | None,
    budgets_: tuple[tuple[str, str], ...],
    worktree: str | None = None,
    remote: str | None = None,
    cloud: bool = False,
    **picked: str,
) -> SessionSpec | None:
    """Return the settings of the session that the options describe, or None for `--agent help`,
    after listing the agents. `picked`: its mode and model."""
    if agent and line:
        raise click.UsageError("--agent and --cmd cannot be combined.")
    if agent is not None and not agent.strip():
        raise click.BadParameter("a name is missing; `help` lists them.", param_hint="--agent")
    own = elsewhere.own_agent(remote, cloud, agent=agent, cmd=line, sandbox=sandbox)
    picked = {name: value.strip() for name, value in picked.items() if value.strip()}
    if agent == "help":
        from rookery.cli.checkup.agent_list import write_table

        write_table(screen, target.agents())
        return None
    if target.rookery().address:
        spec = _elsewhere(agent, line, cwd, roots, title, no_critic, refine)
        spec = spec._replace(sandbox=sandbox or "", worktree=worktree)
        return spec._replace(budget=dict(budgets_), picks=picked)
    if override:
        os.environ[OVERRIDE] = "1"  # the session is made in this environment
    settings = cli_settings.load()
    if own is not None:
        made, about = own, _whereabouts(remote, picked.get("model", ""))
    elif line is not None:
        made, about = flags.agent_of_command(line), ""
    else:
        made, about = _chosen(settings, agent, picked.get("model", ""))
    argv = [] if line is None and own is None else made.argv
    if sandbox not in (None, CONTAINER) and registry.image_of(made.argv) is not None:
        raise click.UsageError(f"{made.name} always runs in the sandbox container.")
    if (sandbox or default_sandbox(settings, made.name, argv)) == CONTAINER:
        sandboxes.engine.check(settings.sandbox, made.argv)
    else:
        registry.check_installed(made, os.environ, cwd, settings.node_path)
    if worktree is not None:
        from rookery.cli.session.git_programs import ask_before_worktree

        ask_before_worktree(screen, cwd)
    critic = False if no_critic else None
    chosen = (critic, refine or None, sandbox or "", dict(budgets_), worktree, picked)
    return SessionSpec(made, argv, cwd, roots, title, *chosen, about)


def _whereabouts(remote: str | None, model: str) -> str:
    """Describe Rookery's own agent elsewhere, with its model. Raises ClickException."""
    model_name = _model(paths.home(), checked_model(model) if model else "")
    where = f"agent server {clean_line(remote)}" if remote else "OpenHands Cloud"
    return f"model {model_name} · {where}"


def _elsewhere(
    agent: str | None,
    line: str | None,
    cwd: str,
    roots: tuple[str, ...],
    title: str,
    no_critic: bool,
    refine: bool,
) -> SessionSpec:
    """Return the settings for another machine, which knows its own agents and directories."""
    if line is not None:
        target.only_here("--cmd")
    if not cwd:
        raise click.UsageError(f"Name a directory of {target.rookery().address}: --cwd DIR")
    named = registry.Agent(agent or "", [])
    return SessionSpec(named, [], cwd, roots, title, False if no_critic else None, refine or None)


def _chosen(settings: config.Config, named: str | None, model: str) -> tuple[registry.Agent, str]:
    """Return the agent of that name, else the default one, and a note on the choice. `model`: what
    it starts with. Raises UnknownAgent, SettingsError, ClickException."""
    home = paths.home()
    name = named or default_agent(home, settings.default_agent, os.environ)
    agent = registry.resolve(name, settings.agents)
    silent, about = bool(named or settings.default_agent), list[str]()
    if name == registry.DEMO and not silent:
        about.append("demo agent (no model: rookery setup)")
    if name == registry.OWN and name not in settings.agents and not registry.lacks_module(agent):
        model_name = _model(home, checked_model(model) if model else "")
        about += [] if silent else [f"model {model_name}"]
        if os.environ.get("LLM_MODEL", "").strip() and not overriding(os.environ):
            about.append("LLM_MODEL is ignored without --override-with-envs")
    return agent, " · ".join(about)


def checked_model(model: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return a model's name as it was saved: our own agent has only saved models, unless the
    session's environment overrides them, in which case this returns "". Raises BadParameter."""
    if overriding(environment) or overriding(os.environ):
        return ""
    names = list(models.profiles.load(paths.home()).profiles)
    choices = [{"value": name, "name": name} for name in names]
    choice = agent_options.choice_of({"choices": choices}, model) if names else None
    if choice is None:
        known = f"Saved models: {', '.join(names)}." if names else "Add one: rookery setup"
        raise click.BadParameter(f"there is no model {model!r}. {known}", param_hint="--model")
    return choice


def _model(home: str, named: str) -> str:
    """Return the model's name. Raises ClickException: without a model, no session is created."""
    override = overriding(os.environ)
    model = models.profiles.effective(
        models.profiles.load(home), os.environ, override, profile=named
    )
    if isinstance(model, models.profiles.Missing):
        raise click.ClickException(model.sentence)
    name = clean_line(model.model)
    return name if model.name == models.profiles.ENVIRONMENT else f"{name} ({model.name})"
