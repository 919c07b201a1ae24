"""`doctor`: checks the home, and tests agents with a report for each."""

import asyncio
import os
import signal

import click

from rookery.agents import registry
from rookery.cli import exits, flags
from rookery.cli import settings as cli_settings
from rookery.cli.checkup import address_probe, agent_list, home
from rookery.cli.checkup.card import NOT_OK, OK, Card, Row
from rookery.cli.checkup.examine import Limits, examine
from rookery.cli.output import Screen, clean_line, clean_output, cut, standard
from rookery.client.config import in_force
from rookery.core import units
from rookery.core.agent.addresses import address_of
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.home import config, paths
from rookery.sandbox import engine
from rookery.sandbox.plan import SandboxError

SIGNS = {"ok": "done", "not ok": "failed", "not told": "pending"}
STDERR_LINES = 10


@click.command()
@click.argument("names", nargs=-1, metavar="[AGENT]...", shell_complete=flags.complete_agents)
@flags.line
@flags.text("--prompt", metavar="TEXT", help="Also run two turns with this prompt (costs tokens).")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Time limit for the start and for each later step (default: 30; with npx etc.: 120).",
)
@click.option("--all-logs", is_flag=True, help="Read every log in full, however large.")
@flags.results("Print one JSON report per agent.")
def doctor(
    names: tuple[str, ...], line: str | None, prompt: str, timeout: float | None, all_logs: bool
) -> int:
    """Check Rookery's home and list the agents; or test agents and print a report for each.

    Each agent is started three times in a temporary directory; nothing is left running. An agent at
    an address is only asked what it can do. Each line of the report names what was checked and says
    ok, not ok, or not told (it could not be tested). The exit code is 1 if the home has a problem
    or an agent cannot create a session.

    With --prompt, TEXT is sent twice: the first turn runs to its end with every permission
    rejected, the second is cancelled. Choose a TEXT that makes the agent run a command.

    \b
    rookery doctor
    rookery doctor claude codex
    rookery doctor --cmd "my-agent --acp" --prompt "Run: echo hello"
    """
    screen = standard()
    if not names and line is None:
        if prompt or timeout:
            raise click.UsageError("--prompt and --timeout need an AGENT or --cmd.")
        return _home(screen, all_logs=all_logs)
    if all_logs:
        raise click.UsageError("--all-logs checks Rookery's home: omit AGENT and --cmd.")
    worst = exits.DONE
    for agent in _agents(names, line):
        try:
            card = _examined(screen, agent, prompt, timeout)
        except asyncio.CancelledError:
            return exits.CANCELLED
        screen.result(card.to_json())
        if not screen.as_json:
            _write(screen, card)
        worst = worst if card.usable else exits.FAILED
    return worst


def _agents(names: tuple[str, ...], line: str | None) -> list[registry.Agent]:
    """Return all of the agents, or raise an error before anything is started."""
    settings = cli_settings.load()
    node = settings.node_path
    agents = [registry.resolve(name, settings.agents, os.environ, node) for name in names]
    if line is not None:
        agents.append(flags.agent_of_command(line, os.environ, node))
    for agent in agents:
        registry.check_installed(agent, os.environ, os.getcwd(), node)
    return agents


def _examined(screen: Screen, agent: registry.Agent, prompt: str, timeout: float | None) -> Card:
    if address_of(agent.argv):
        card = Card(agent.name, agent.argv)
        address_probe.examine(card, cli_settings.load(), timeout)
        return card
    if registry.image_of(agent.argv) is not None:
        return _boxed(agent)
    program, *rest = agent.argv
    # It is started elsewhere: what was named from here is found from there.
    argv = [os.path.abspath(program) if "/" in program else program, *rest]
    card = Card(agent.name, argv)
    limits = Limits(start=120.0 if registry.starts_slowly(argv) else 30.0)
    if timeout is not None:
        limits = Limits(timeout, min(timeout, limits.step), timeout, min(timeout, limits.end))

    async def work() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        await examine(card, limits, prompt)

    screen.status(f"Testing {clean_line(agent.name)} …")
    try:
        asyncio.run(work())
    except OSError as error:
        card.say("initialize", NOT_OK, f"{program} did not start: {error.strerror or error}")
    finally:
        screen.status("")
    return card


def _boxed(agent: registry.Agent) -> Card:
    """Return the card of an agent that always runs in a container: whether its image has it."""
    card = Card(agent.name, agent.argv)
    try:
        image = engine.check(cli_settings.load().sandbox, agent.argv, deep=True)
        card.say("image", OK, f"{image.name} has the agent")
        card.usable = True
    except SandboxError as error:
        card.say("image", NOT_OK, str(error))
    return card


def _home(screen: Screen, *, all_logs: bool) -> int:
    rows = home.check(paths.home(), all_logs=all_logs)
    sound = all(row.verdict != NOT_OK for row in rows)
    settings = config.load_or_defaults(paths.home(), in_force.load)
    listed = agent_list.with_versions(agent_list.listed(settings), os.environ, settings)
    about = {"sound": sound, "rows": [row._asdict() for row in rows], "agents": listed}
    screen.result(about)
    if not screen.as_json:
        _write_rows(screen, rows)
        screen.line()
        agent_list.write_table(screen, listed)
    return exits.DONE if sound else exits.FAILED


# ---------------------------------------------------------------- look


def _write_rows(screen: Screen, rows: list[Row]) -> None:
    width = max((len(row.row) for row in rows), default=0)
    for row in rows:
        sign = SIGNS[row.verdict]
        mark = screen.paint.mark(sign)
        verdict = screen.paint.in_(sign, f"{row.verdict:<8}")
        screen.line(f"{mark} {verdict}  {row.row:<{width}}  {clean_line(row.words)}")


def _write(screen: Screen, card: Card) -> None:
    info = lenient.mapping(card.facts, "agentInfo")
    name = f"{lenient.text(info, 'name')} {lenient.text(info, 'version')}".strip()
    title = " · ".join(word for word in (card.name, name, " ".join(card.argv)) if word)
    screen.line(screen.paint.in_("strong", cut(clean_line(title), 160)))
    for label, text in _facts(card):
        screen.line(f"  {label:<13} {clean_line(text)}")
    _write_rows(screen, card.rows)
    if not card.usable and (wrote := lenient.text(card.facts, "stderr").strip()):
        screen.line(screen.paint.faint("  last lines of its stderr:"))
        for line in clean_output(wrote, colour=False)[-STDERR_LINES:]:
            screen.line(f"    {line}")
    bad = sum(row.verdict == NOT_OK for row in card.rows)
    screen.note(f"{clean_line(card.name)}: {len(card.rows) - bad} fine or not tested, {bad} not ok")


def _facts(card: Card) -> list[tuple[str, str]]:
    facts = card.facts
    rows = []
    if "initializeSeconds" in facts:
        starts = f"{units.duration(facts['initializeSeconds'])} to initialize"
        if "newSeconds" in facts:
            starts += f", {units.duration(facts['newSeconds'])} to session/new"
        rows.append(("starts in", starts))
        rows.append(("protocol", str(facts.get("protocolVersion"))))
    if "processes" in facts:
        size = facts["memoryBytes"]
        memory = "unknown" if size is None else f"{units.size(size)} private"
        rows.append(("memory", f"{memory}, {count(facts['processes'], 'process')}"))
    if "capabilities" in facts:
        rows.append(("can", ", ".join(_offered(facts["capabilities"])) or "only the minimum"))
    for label, key, current in (("modes", "modes", "mode"), ("models", "models", "model")):
        if facts.get(key):
            now = facts[current]
            names = [f"{each} (now)" if each == now else each for each in facts[key]]
            rows.append((label, ", ".join(names)))
    if facts.get("options"):
        rows.append(("options", ", ".join(f"{key} = {v}" for key, v in facts["options"].items())))
    if facts.get("authMethods"):
        rows.append(("log in by", ", ".join(facts["authMethods"])))
    if "stderrBytes" in facts:
        rows.append(("stderr", f"{facts['stderrBytes']:,} bytes"))
    return rows


def _offered(capabilities: object, prefix: str = "") -> list[str]:
    """Return the names of what is offered: true, or an empty object."""
    names: list[str] = []
    for key, value in capabilities.items() if isinstance(capabilities, dict) else ():
        if key != "_meta":
            offers = value is True or value == {}
            names += [prefix + str(key)] if offers else _offered(value, f"{key}.")
    return names
