"""The messages printed once a daemon listens, in its own terminal or in the one that started it."""

from collections.abc import Callable

from rookery.daemon.access import addresses
from rookery.daemon.options import NONE, PASSPHRASE, Options
from rookery.render.qr import drawn

type Say = Callable[[str], object]


def announce(home: str, options: Options, new_link: Callable[[], str], say: Say) -> str:
    """Print the address and how to log in. Return what a browser should open: the login link, or
    the address."""
    others = addresses.for_links(options)
    here = "" if others == options.address else f" (here: {options.address})"
    say(f"Rookery serves {home} at {others}{here}")
    if options.auth == NONE:
        return others
    link = new_link()
    by = "with the passphrase, or by" if options.auth == PASSPHRASE else "by"
    say(f"Log in {by} this link (once, within 10 minutes):")
    say(f"  {link}")
    return link


def show(options: Options, link: str, say: Say, *, qr: bool, browser: bool) -> None:
    """Show the link as a QR code for a phone, or open it in a browser here, as asked."""
    if qr:
        say(addresses.why_only_here(options) or drawn(link))
    if browser:
        import webbrowser

        webbrowser.open(addresses.for_browser(options, link))
