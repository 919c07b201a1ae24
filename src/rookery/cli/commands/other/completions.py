"""`completions`: prints a shell script to complete commands, options, sessions and agents."""

import click

from rookery.cli.commands import COMPLETING
from rookery.cli.completion import class_of


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completions(context: click.Context, shell: str) -> None:
    """Print a shell completion script. It completes sessions, with their titles beside them,
    and agents too.

    \b
    eval "$(rookery completions bash)"          in ~/.bashrc
    eval "$(rookery completions zsh)"           in ~/.zshrc
    rookery completions fish | source           in ~/.config/fish/config.fish
    """
    program = context.find_root().command
    click.echo(class_of(shell)(program, {}, "rookery", COMPLETING).source())
