"""`agents login` and `agents logout`: choosing a method and carrying it out."""

import asyncio
import os
import sys
from typing import NamedTuple

import click

from rookery.agents import registry
from rookery.cli import errors, exits, flags, settings
from rookery.cli.output import Screen, clean, clean_line, standard
from rookery.cli.setup.command import setup
from rookery.client.guard import require_person
from rookery.client.login import held_prompts, status, terminal
from rookery.client.login.agent import LoginAgent, LoginFailed, environment_of
from rookery.client.login.status import Known
from rookery.core.refusals import sentences
from rookery.core.vendors import logins, profiles
from rookery.core.vendors.logins import Method
from rookery.home import paths
from rookery.home.config import Config

WHERE = (
    "Set it in the terminal (export {0}=…) and run this again there, or set it under "
    "[agents.{1}] env"
)


class Subject(NamedTuple):
    agent: registry.Agent
    named: bool
    """It is known by its name; else sessions were made with its command."""
    config: Config


def log_in(name: str, line: str | None, method: str, *, key_stdin: bool, key_env: str) -> int:
    """Log in; return the exit code. `line`: the command of an agent without a name."""
    screen, home = standard(), paths.home()
    require_person(home, "log in to agents")
    subject = _subject(home, name, line)
    name = subject.agent.name
    if registry.is_own(subject.agent.argv):
        return _set_up(screen, name)
    done = asyncio.run(_log_in(screen, home, subject, method, _key(key_stdin, key_env)))
    if isinstance(done, Method):
        screen.note(f"Runs: {clean_line(logins.command_line(done))}")
        terminal.run(home, subject.agent, subject.config, done)
        screen.note(f"Logged in to {clean_line(name)}.")
    return _go_on(screen, home, subject) if done else exits.FAILED


def log_out(name: str) -> int:
    screen, home = standard(), paths.home()
    require_person(home, "log out of agents")
    subject = _subject(home, name)
    if registry.is_own(subject.agent.argv):
        raise click.ClickException(
            "Rookery's own agent has saved models: rookery setup remove NAME"
        )

    async def work() -> Known:
        screen.status(f"Starting {clean_line(name)} …")
        async with LoginAgent(home, subject.agent, subject.config) as agent:
            await agent.log_out()
            return await agent.learn(0)

    try:
        known = asyncio.run(work())
    finally:
        screen.status("")
    screen.result({"name": name, "state": known.state, "account": known.account})
    if known.state == logins.IN:
        account = f": {clean_line(known.account)}" if known.account else ""
        screen.note(f"Logged out, but {clean_line(name)} still has an account{account}.")
    else:
        screen.note(f"Logged out of {clean_line(name)}.")
    return exits.DONE


def complete_methods(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """Complete the methods that the agent listed when it last ran."""
    try:
        agent = _subject(paths.home(), str(context.params.get("name") or "")).agent
        known = status.read(paths.home(), *agent)
    except errors.EXPECTED:
        return []
    items = [click.shell_completion.CompletionItem(m.id, help=m.name) for m in known.methods()]
    return [item for item in items if item.value.startswith(incomplete)]


def _subject(home: str, name: str, line: str | None = None) -> Subject:
    """Return the agent to log in to. Raises UnknownAgent, NotInstalled, ConfigError."""
    config = settings.load()
    if line is not None:
        agent, named = flags.agent_of_command(line, os.environ, config.node_path), False
    else:
        agent, named = held_prompts.resolve(home, config, name)
    registry.check_installed(agent, os.environ, os.getcwd(), config.node_path)
    return Subject(agent, named, config)


def _set_up(screen: Screen, name: str) -> int:
    if name != registry.OWN:
        raise click.ClickException(
            f"{name} is Rookery's own agent elsewhere. To change its key: rookery agents add {name}"
        )

    screen.note("Rookery's own agent needs a model.")
    return int(setup.main([], standalone_mode=False) or exits.DONE)


def _key(key_stdin: bool, key_env: str) -> str:
    if key_stdin and key_env:
        raise click.UsageError("--key-stdin and --key-env cannot be combined.")
    if key_env and not os.environ.get(key_env):
        raise click.UsageError(f"{key_env} is not set.")
    return sys.stdin.readline().strip() if key_stdin else os.environ.get(key_env, "")


async def _log_in(
    screen: Screen, home: str, subject: Subject, wanted: str, key: str
) -> Method | bool:
    """Log in and return whether that is done, or a method that the terminal has to carry out.
    Raises LoginFailed."""
    name = clean_line(subject.agent.name)

    def show(lines: list[str]) -> None:
        screen.note("\n".join(map(clean, lines)))

    screen.status(f"Starting {name} …")
    async with LoginAgent(home, subject.agent, subject.config, show) as agent:
        known = await agent.learn()
        screen.status("")
        if known.state in (logins.IN, logins.NOT_NEEDED) and not wanted and known.tells:
            account = f": {clean_line(known.account)}" if known.account else ""
            screen.note(f"{name} is logged in{account}. To use another account, pass --method.")
            return True
        method = _chosen(screen, name, agent.methods, wanted)
        match method.kind:
            case logins.TERMINAL:
                if not flags.in_terminal():
                    line = clean_line(logins.command_line(method))
                    raise LoginFailed(f"This login needs a terminal. Run there: {line}")
                return method
            case logins.VARIABLES:
                return _has_variables(screen, subject, method.variables, name)
        key = key or _asked_key(subject, method)
        if method.takes_key and not key and not _has_variables(screen, subject, (), name):
            return False
        screen.status(f"Logging in to {name}: {clean_line(method.name)} … (Ctrl-C: cancel)")
        try:
            await agent.authenticate(method, key)
        finally:
            screen.status("")
        screen.note(f"Logged in to {name}.")
        return True


def _chosen(screen: Screen, name: str, methods: list[Method], wanted: str) -> Method:
    """Return the method to use; ask if there are several. Raises UsageError, LoginFailed, Abort."""
    known = {method.id: method for method in methods}
    if wanted and wanted not in known:
        listed = ", ".join(map(clean_line, known)) or "none"
        raise click.UsageError(f"{name} has no method {wanted!r}. Its methods: {listed}")
    if not methods:
        entry = registry.AGENTS.get(name)
        variables = " or ".join(entry.environment) if entry else ""
        how = f"Use its own command, or set {variables}." if variables else "Use its own command."
        raise LoginFailed(f"{name} lists no way to log in. {how}")
    if wanted or len(methods) == 1:
        return known[wanted] if wanted else methods[0]
    if not flags.in_terminal():
        ids = "\n".join(f"  --method {clean_line(m.id)}   {clean_line(m.name)}" for m in methods)
        raise click.UsageError(f"{name} has several ways to log in. Pass one of:\n{ids}")
    screen.note(f"How do you want to log in to {name}?")
    for number, method in enumerate(methods, 1):
        about = "" if method.about in ("", method.name) else f": {method.about}"
        screen.note(clean_line(f"{number}. {method.name}{about}"))
    number = click.prompt("Number", type=click.IntRange(1, len(methods)), default=1, err=True)
    return methods[number - 1]


def _asked_key(subject: Subject, method: Method) -> str:
    """Ask for the key of an agent that saves it; return "" if none is needed."""
    keeps = profiles.profile_of(*subject.agent).keeps_key
    if not (method.takes_key and keeps and flags.in_terminal()):
        return ""
    if _set_variables(subject, ()):
        return ""
    return str(click.prompt("API key", hide_input=True, err=True)).strip()


def _set_variables(subject: Subject, names: tuple[str, ...]) -> list[str]:
    """Return which of these variables, or of those known to hold the agent's key, are set."""
    environment = environment_of(subject.config, subject.agent.name)
    return [name for name in _variables(subject, names) if environment.get(name)]


def _variables(subject: Subject, names: tuple[str, ...]) -> tuple[str, ...]:
    entry = registry.AGENTS.get(subject.agent.name)
    return names or (entry.environment if entry else ())


def _has_variables(screen: Screen, subject: Subject, names: tuple[str, ...], name: str) -> bool:
    """Tell whether the key is in the environment; if not, tell the user where to put it."""
    known = _variables(subject, names)
    present = _set_variables(subject, names)
    if present or not known:
        if present:
            screen.note(f"{name} uses {' and '.join(present)} of this terminal.")
        return True
    listed = " and ".join(known)
    screen.note(f"{listed} is not set. {WHERE.format(known[0], name)} in config.toml.")
    return False


def _go_on(screen: Screen, home: str, subject: Subject) -> int:
    """Send the prompts that waited for the login; return the exit code."""
    for session in held_prompts.waiting(home, subject.agent, named=subject.named):
        try:
            sent = asyncio.run(held_prompts.send(home, session))
        except errors.EXPECTED as error:
            screen.note(f"{session} did not go on: {clean(sentences(error))}")
            continue
        if sent:
            screen.note(f"Its prompt is sent again: rookery tail {session}")
    return exits.DONE
