"""What is said once a daemon listens, in its own terminal or in the one that started it."""

from collections.abc import Callable

from rookery.daemon.options import NONE, PASSPHRASE, Options

type Say = Callable[[str], object]


def announce(home: str, options: Options, new_link: Callable[[], str], say: Say) -> str:
    """Where it is, and how to log in. What a browser is to open: the link, or the address."""
    say(f"Rookery serves {home} at {options.address}")
    if options.auth == NONE:
        return options.address
    link = new_link()
    by = "with the passphrase, or by" if options.auth == PASSPHRASE else "by"
    say(f"Log in {by} this link (once, within 10 minutes):")
    say(f"  {link}")
    return link


def show(address: str, say: Say, *, qr: bool, browser: bool) -> None:
    """As a QR code for a phone, and in a browser here, if that is wanted."""
    if qr:
        from rookery.daemon.drawing.qr import drawn

        say(drawn(address))
    if browser:
        import webbrowser

        webbrowser.open(address)
