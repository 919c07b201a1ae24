"""A command on its way to a session, with its files and this terminal's environment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rookery.core.json.events import Json

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.client.session import SessionClient


async def delivered(
    client: "SessionClient", command: Json, files: "Sequence[Attachment]"
) -> tuple[str, Json]:
    """Why a command was rejected, empty if it was not; and the update it caused."""
    from rookery.client.session import Refused, Rejected, Trouble
    from rookery.client.start import StartError

    try:
        await client.renew(command)  # the session says which variables differ
        event = await client.send(with_files(client, command, files))
    except Rejected as error:
        return error.message, {}
    except (Refused, StartError, Trouble) as error:
        return str(error), {}
    return "", event.update


def with_files(client: "SessionClient", command: Json, files: "Sequence[Attachment]") -> Json:
    """The bytes go next to the log; the command names them."""
    if not files:
        return command
    from rookery.client.attach import stage

    return {**command, "prompt": [*command["prompt"], *stage(client.directory, files)]}
