"""`agents`: lists, installs and removes agents."""

import os
import shlex
from typing import BinaryIO

import click
from click.shell_completion import CompletionItem

from rookery.agents import downloads, programs, public_registry, registry
from rookery.agents import install as installing
from rookery.agents.public_registry import Offer
from rookery.cli import exits, flags, settings
from rookery.cli.aliases import Verbs
from rookery.cli.checkup.agent_list import listed, with_versions, write_table
from rookery.cli.output import clean_line, standard
from rookery.cli.setup.agent_image import make
from rookery.cli.setup.agent_login import complete_methods, log_in, log_out
from rookery.cli.setup.agents_add import add as add_agent
from rookery.client.config import own_agents
from rookery.client.fleet import heads
from rookery.client.guard import require_person
from rookery.forms import agent_install
from rookery.home import paths

json_results = flags.results("Print one JSON object per agent.")
name_argument = click.argument("name", shell_complete=flags.complete_agents)


def _methods(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return complete_methods(context, parameter, incomplete)


@click.group(cls=Verbs, invoke_without_command=True)
@json_results
@click.pass_context
def agents(context: click.Context) -> None:
    """List the known agents: the built-in ones and those in your config.toml; install and remove
    them.

    Programs are looked up on PATH, then among those installed here, then in the folders of nvm,
    fnm, volta, asdf and mise. Nothing is installed unless you ask for it: the list shows the
    command that installs a missing agent, and why an installed one does not start. Agents at an
    address (`url` in config.toml) are asked whether they answer.

    \b
    rookery agents
    rookery agents --json | jq -r 'select(.installed | not).install'
    rookery agents install claude
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@agents.command("list")
@json_results
def list_() -> None:
    """List the known agents, with their versions.

    \b
    rookery agents list
    """
    screen, found_settings = standard(), settings.load()
    rows = with_versions(listed(found_settings), os.environ, found_settings)
    if not screen.as_json:
        write_table(screen, rows)
    for each in rows:
        screen.result(each)


# ---------------------------------------------------------------- install and remove


@agents.command()
@name_argument
@flags.yes
@flags.results()
def install(name: str, yes: bool) -> int:
    """Install an agent, or update it: an npm or PyPI package, or a program that the public registry
    has for this machine (see `rookery agents import`).

    It goes into a folder of its own in Rookery's home (agents/NAME), never into a global one, and
    `rookery agents remove` deletes that folder. A terminal asks first; a script has to pass --yes.
    Whatever version is installed stays until you run this again.

    \b
    rookery agents install claude
    rookery agents install --yes vibe
    """
    screen, home = standard(), paths.home()
    settings.load()  # which says what is wrong with the file
    plan = agent_install.prepare(home, name)
    for line in agent_install.described(plan):
        screen.note(line)
    if not yes:
        flags.confirm(screen, "Go ahead?", "install it")
    watch = installing.Watch(lambda line: screen.status(line.strip())) if plan.download else None
    agent_install.run(home, plan, watch)
    screen.status("")
    if plan.download is not None:
        screen.note(f"sha256:{downloads.digest_of(home, name, plan.download)}")
    screen.result({"name": name, "installed": True, "directory": plan.place})
    place = paths.with_tilde(plan.place)
    screen.note(f"{name} is installed in {place}. To test it: rookery doctor {name}")
    if hint := agent_install.login_hint(name):
        screen.note(hint)
    return exits.DONE


@agents.command()
@name_argument
@flags.yes
@flags.results()
def remove(name: str, yes: bool) -> int:
    """Remove an agent that `rookery agents install` installed. Your sessions stay.

    \b
    rookery agents remove claude
    """
    screen, home = standard(), paths.home()
    require_person(home, "remove agents")
    if name not in registry.AGENTS and not installing.is_installable(home, name):
        raise registry.UnknownAgent(name, list(registry.AGENTS))
    if not installing.is_ours(home, name):
        folder = paths.with_tilde(os.path.join(home, programs.FOLDER))
        raise click.ClickException(f"{name} is not installed in {folder}.")
    place = installing.folder(home, name)
    program = programs.find(installing.program_of(home, name), os.environ) or ""
    awake = [head["id"] for head in heads(home) if head["awake"] and head["agent"] == name]
    if awake and program.startswith(place + os.sep):
        message = f"{name} is in use. First: rookery stop {' '.join(awake)}, then try again."
        raise click.ClickException(message)
    if not yes:
        flags.confirm(screen, f"Remove {paths.with_tilde(place)}?", "remove it")
    installing.remove(home, name)
    screen.result({"name": name, "installed": False, "directory": place})
    screen.note(f"Removed {name}. Its sessions are kept.")
    return exits.DONE


# ---------------------------------------------------------------- log in and out


@agents.command()
@click.argument("name", required=False, default="", shell_complete=flags.complete_agents)
@flags.line
@click.option("--method", default="", metavar="ID", shell_complete=_methods, help="How to log in.")
@flags.key_stdin
@flags.key_env
def login(name: str, line: str | None, method: str, key_stdin: bool, key_env: str) -> int:
    """Log in to an agent. Prompts that waited for it are sent again.

    The agent is started and lists its methods; a terminal lets you choose, a script has to pass
    --method if there are several. A method that needs a terminal runs in this one. For
    Rookery's own agent, this is `rookery setup`.

    \b
    rookery agents login claude
    rookery agents login codex --method api-key --key-env OPENAI_API_KEY
    """
    if bool(name) == (line is not None):
        raise click.UsageError("Pass an agent's NAME, or --cmd.")
    return log_in(name, line, method, key_stdin=key_stdin, key_env=key_env)


@agents.command()
@name_argument
@flags.results()
def logout(name: str) -> int:
    """Log out of an agent, where the agent can do that.

    \b
    rookery agents logout codex
    """
    return log_out(name)


@agents.command()
@click.argument("name")
@flags.elsewhere
@click.option("--directory", metavar="DIR", help="Working directory over there.")
@click.option("--container", is_flag=True, help="Here, always in the sandbox `container`.")
@click.option("--image", metavar="NAME", help="The image for --container (default: Rookery's).")
@flags.results()
def add(name: str, **where: str | bool | None) -> int:
    """Add Rookery's own agent elsewhere, under a name: its conversation and commands are on an
    OpenHands agent server, in a sandbox of OpenHands Cloud, or in a container.

    The key is read from the terminal or from stdin, tried, and saved where only you can read it.
    Run it again to change the key. With --container, its sessions always run in the sandbox
    `container`, whose image `rookery agents image` makes. For other agents, see [agents.NAME] in
    `rookery help config`.

    \b
    rookery agents add build --remote http://build:8000 < key
    rookery agents add cloud --cloud
    rookery agents add box --container
    rookery run --agent box "Fix the test"
    """
    return add_agent(name, where)


@agents.command()
@click.argument("names", metavar="[NAME]…", nargs=-1, shell_complete=flags.complete_agents)
@flags.text("--from", "base", metavar="IMAGE", help="Build on this image instead of the usual one.")
@flags.text("--tag", metavar="IMAGE", help="The new image's name (default: the one that is used).")
@click.option("--print", "shown", is_flag=True, help="Print the Containerfile, and build nothing.")
@flags.text("--write", "folder", metavar="DIR", help="Write all that is needed to build it there.")
@flags.yes
@flags.results()
def image(names: tuple[str, ...], base: str, tag: str, shown: bool, folder: str, yes: bool) -> int:
    """Make the image for `--sandbox container`, with podman or docker: these agents, git, and a few
    tools. Without a name: Rookery's own agent, as it is installed here.

    Agents that are in the image already stay, and are updated. It downloads some hundred MB. A
    terminal asks first; a script has to pass --yes. With --from, the image is built on one of
    yours, or a mirror's; it needs Python 3.12 with pip, and npm for agents from there.

    \b
    rookery agents image claude codex
    rookery run --sandbox container --agent claude "Fix the test"
    rookery agents image --from localhost/our-tools --tag localhost/our-agents
    """
    return make(names, base, tag, shown=shown, folder=folder, yes=yes)


# ---------------------------------------------------------------- the public registry


@agents.command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
@click.option("--replace", is_flag=True, help="Replace entries with the same name.")
@flags.yes
@flags.results("Print one JSON object per agent that is added.")
def import_(file: BinaryIO, dry_run: bool, replace: bool, yes: bool) -> int:
    """Add the agents of the public ACP registry's JSON to your config.toml.

    npm and PyPI packages run by npx and uvx, which fetch them when a session starts. Programs for
    this machine, and agents that Rookery knows, are installed with `rookery agents install`. An
    agent of yours that has the same name stays as it is, unless you pass --replace.

    \b
    rookery agents import registry.json --dry-run
    curl -s https://… | rookery agents import --yes -
    """
    screen, home = standard(), paths.home()
    offers = public_registry.read(file.read(public_registry.LARGEST + 1), file.name)
    mine = settings.load().agents
    added, for_here = list[Offer](), list[Offer]()
    for offer in offers:
        name = clean_line(offer.name)
        if offer.why:
            screen.note(clean_line(f"Skipping {name}: {offer.why}"))
        elif not offer.table:
            for_here.append(offer)
        elif list(mine.get(offer.name, [])) == offer.table["command"]:
            screen.note(f"{name} is there already.")
            for_here += [offer] if offer.download else []
        elif offer.name in mine and not replace:
            command = clean_line(shlex.join(mine[offer.name]))
            screen.note(f"Skipping {name}: you have one that runs {command} (--replace)")
        else:
            added.append(offer)
            verb = "replaces yours and runs" if offer.name in mine else "runs"
            screen.result({"name": offer.name, **offer.table})
            screen.line(clean_line(f"{name} {verb} {shlex.join(offer.table['command'])}"))
            for_here += [offer] if offer.download else []
    for offer in for_here:
        screen.note(f"To install {offer.name}: rookery agents install {offer.name}")
    news = [each for each in for_here if downloads.offered(home, each.name) != each.download]
    if not (added or news) or dry_run:
        screen.note(f"{len(added)} to add." if dry_run else "Nothing to add.")
        return exits.DONE
    require_person(home, "add agents")
    if added and not yes:
        flags.confirm(screen, f"Add {len(added)}?", "add them")
    paths.ensure_home(home)
    downloads.keep_offers(home, {each.name: each.download for each in news if each.download})
    for offer in added:
        own_agents.put(home, offer.name, offer.table)
    if added:
        screen.note(f"Added {len(added)}. To test one: rookery doctor {added[0].name}")
    return exits.DONE
