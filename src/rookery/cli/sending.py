"""One command to a session, and its outcome."""

from rookery import paths
from rookery.core.events import Event, Json


def send(session: str, command: Json) -> Event:
    """Send a command until its outcome is in the log; that outcome."""
    import asyncio

    from rookery.client.session import SessionClient

    async def sending() -> Event:
        client = SessionClient(paths.home(), session)
        try:
            return await client.send(command)
        finally:
            client.close()

    return asyncio.run(sending())
