"""`api`: sends a request to the daemon, for scripts."""

import json
import sys

import click

from rookery.cli import exits, target
from rookery.home import paths
from rookery.operations.calling.reaching import answer_of

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@click.command()
@click.argument("method", type=click.Choice(METHODS, case_sensitive=False))
@click.argument("path")
@click.option("-d", "--data", help="The body, as JSON; @FILE reads a file, @- stdin.")
def api(method: str, path: str, data: str | None) -> int:
    """Send a request to the daemon and print its answer. No token is needed; with --daemon, the
    saved login is used.

    /api/docs of a running daemon explains every address.

    \b
    rookery api GET /api/v1/sessions
    rookery api POST /api/v1/sessions -d '{"agent": "demo", "cwd": "/tmp", "prompt": "Hello"}'
    """
    if not path.startswith("/"):
        path = f"/api/{path}"
    answer = answer_of(paths.home(), target.url(), method.upper(), path, _body(data))
    if answer.kind == "application/json":
        text = json.dumps(answer.json(), indent=2 if sys.stdout.isatty() else None)
        sys.stdout.write(text + "\n")
    else:
        sys.stdout.buffer.write(answer.body)
    return exits.DONE if answer.status < 400 else exits.FAILED


def _body(data: str | None) -> dict[str, object] | None:
    if data is None:
        return None
    if data.startswith("@"):
        try:
            with click.open_file(data[1:], encoding="utf-8") as file:
                data = file.read()
        except OSError as error:
            raise click.BadParameter(f"{data[1:]}: {error.strerror}") from error
    try:
        body = json.loads(data)
    except ValueError as error:
        raise click.BadParameter(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise click.BadParameter("the body must be a JSON object")
    return body
