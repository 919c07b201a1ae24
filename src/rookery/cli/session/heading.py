"""What stands above each of several sessions that are printed."""

from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.client.fleet import head_of_session
from rookery.home import paths


def head_line(screen: Screen, session: str, *, first: bool) -> None:
    head = head_of_session(paths.home(), session)
    title = clean_line(head["title"]) if head else ""
    screen.line(("" if first else "\n") + screen.paint.faint(f"== {session}  {title}".rstrip()))
