"""`play`: only the help; the command itself runs before any library is loaded (see `main`)."""

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=True,
)
@click.argument("file", metavar="FILE|demo")
@click.pass_context
def play(context: click.Context, file: str) -> int:
    """Run an ACP agent on stdio that plays a script, a recorded session, or the demo.

    \b
      --state DIR   where it stores its sessions
      --speed N     N times the recorded speed

    \b
    rookery run --cmd "rookery play script.json" "Begin"
    """
    from rookery.acp.player.entry import main

    return main([file, *context.args])
