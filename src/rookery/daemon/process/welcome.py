"""What a daemon says in its terminal: where it is, and a link to log in by."""

import sys

from rookery.core.json import Json
from rookery.daemon.options import NONE, PASSPHRASE
from rookery.daemon.state import State


def announce(state: State, say: Json) -> None:
    lines = [f"Rookery serves {state.home} at {state.options.address}"]
    link = "" if state.options.auth == NONE else state.login_link()
    if state.options.auth == PASSPHRASE:
        lines.append("Log in with the passphrase, or by this link (once, within 10 minutes):")
    elif link:
        lines.append("Log in by this link (once, within 10 minutes):")
    lines += [f"  {link}"] if link else []
    lines.append("Ctrl-C stops it; sessions keep running.")
    print("\n".join(lines), flush=True)
    if say.get("qr"):
        from rookery.daemon.process.qr import drawn

        print(drawn(link or state.options.address), flush=True)
    if say.get("open"):
        import webbrowser

        webbrowser.open(link or state.options.address)
    sys.stdout.flush()
