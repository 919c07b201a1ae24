"""How flags answer an agent's asks. The answers are stored in the session's log, so the worker
applies them whether or not a client is still connected."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from rookery.cli import flags
from rookery.cli.output import Screen, clean_line
from rookery.cli.session.send import header_of, send
from rookery.client.session import Rejected
from rookery.core.header import Header
from rookery.core.policy import approvals, modes, unattended
from rookery.core.policy.unattended import Order

ALSO = " --confirm-destructive"


class Policy(NamedTuple):
    """How asks are answered: all, risky, reject, or ask (the user)."""

    approve: str
    stated: bool = True
    """False: it is the default, so it is mentioned."""
    destructive: bool = False
    """With `all`: also destructive actions."""
    origin: str = ""
    """The flags, as they were typed: run --yolo."""
    without_hooks: bool = False
    """Without a project's hooks that are not trusted."""
    confirm: str = ""
    """With `ask`: when the user is asked; "": as the session does anyway."""

    @property
    def order(self) -> Order | None:
        """The order for the session, or None if the user is asked."""
        if self.approve not in unattended.CONFIRMS:
            return None
        also = self.destructive and self.approve == unattended.ALL
        source = self.origin + (ALSO if also else "")
        return Order(self.approve, also, source, self.without_hooks)


def summary(header: Header) -> str:
    """Return how a session answers for the user, or what it asks, in a few words."""
    order, agent = unattended.order_of(header.unattended), clean_line(header.agent)
    if header.never_asks:
        return f"{agent} never asks"
    if header.decides:
        return f"{agent} decides on its own"
    label = modes.label(header).capitalize()
    if modes.is_planning(header):
        return f"{label}: nothing is changed"
    if order is None:
        return label + (", except destructive commands" if header.confirm == modes.ALL else "")
    if unattended.allows_destructive(order):
        return f"{label}, even destructive commands"
    more = {
        unattended.ALL: "destructive commands are refused",
        unattended.RISKY: "the rest is approved",
        unattended.REJECT: "whatever needs approval",
    }
    return f"{label} ({more[order.approve]})"


ASKS = {f"--{approvals.BY_ID[each].flag}": each for each in (modes.EVERY, modes.RISKY)}
"""Flags with which a run waits for the user."""


def chosen(approve: str | None, given: Mapping[str, Any], command: str) -> Policy:
    """Return the policy that the flags choose, for a command that does not ask by default:
    `--approve VALUE`, or a flag of the table. Raises UsageError."""
    value, flag = flags.approval(given)
    if approve and value:
        other = approvals.BY_ID[value].flag
        raise click.UsageError(f"--approve and --{other} cannot be combined.")
    flag = f"--approve {approve}" if approve else flag
    choice = "ask" if flag in ASKS else approve or value
    stated = choice if choice != approvals.PLAN else ""  # which says nothing of what is asked
    source = f"{command} {flag}" if stated else command
    return Policy(stated or "all", stated=bool(stated), origin=source, confirm=ASKS.get(flag, ""))


def check_destructive(approve: str | None, destructive: bool) -> None:
    """Raise UsageError if the flag would be ignored."""
    if destructive and approve != unattended.ALL:
        raise click.UsageError("--confirm-destructive needs --approve all.")


def _order(session: str, order: Order) -> None:
    given = {"value": order.approve, "destructive": order.destructive, "told": order.origin}
    given["without_hooks"] = order.without_hooks
    try:
        send(session, {"do": "set", "option": unattended.OPTION, **given})
    except Rejected as error:
        if error.reason != "unknown_option":
            raise
        message = f"The worker of {session} is from an older build and cannot answer for you."
        raise click.ClickException(
            f"{message} Run rookery stop {session}, then try again."
        ) from None


def without_hooks(session: str, policy: Policy) -> Policy:
    """Return the policy that answers for the user in a session, or is to do so, without untrusted
    hooks. Raises UsageError."""
    if policy.order is not None:
        return policy._replace(without_hooks=True)
    held = unattended.order_of(header_of(session).unattended)
    if held is None:
        raise click.UsageError("You are asked about hooks in this session. In a script: --approve.")
    source = held.origin.removesuffix(ALSO)
    return Policy(held.approve, destructive=held.destructive, origin=source, without_hooks=True)


def hand_over(screen: Screen, session: str, policy: Policy) -> None:
    """Apply a policy to an existing session from now on, and tell the user. The default policy does
    not change a session that is unattended already."""
    held = unattended.order_of(header_of(session).unattended)
    order = policy.order
    if (held == order and not policy.confirm) or (held is not None and not policy.stated):
        return
    if order is None:
        wish = policy.confirm or modes.EVERY
        send(session, {"do": "set", "option": modes.OPTION, "value": wish})
    else:
        _order(session, order)
    back = "" if order is None else f" To undo: rookery set {session} confirm ask-always"
    screen.note(f"{summary(header_of(session))}, from now on.{back}")
