"""Enforces budgets in a worker: compares usage with them whenever it grows, and before a turn
begins. Which budget is reached, and what an answer does, is decided in `core/budgets`."""

import os

from rookery.core import budgets, spending
from rookery.core.agent.chunks import text_of
from rookery.core.ask import Ask, asks_of
from rookery.core.asks import asks
from rookery.core.asks.asks import Refusal
from rookery.core.json import Draft, Event, Json, kind_of, lenient, notice
from rookery.core.policy import auto_answer
from rookery.core.tools import calls, terminals
from rookery.core.turn import messages as turns
from rookery.home import ledger
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming
from rookery.worker.session import Session

LETTERS = 4
"""Characters of text per token: how much an agent streams is known, whatever it reports."""

BEGINS = (
    *(turns.Prompted, turns.QueueChanged, turns.Freed, turns.AskedAgain),
    *(turns.Answered, turns.SteerWanted, turns.SteerAnswered),
)
"""After these a turn may begin."""

ASKS = ("session/request_permission", auto_answer.METHOD)
"""Methods that an agent requests before a call begins."""

OPEN = ("", "pending", "in_progress")

GROWS = ("usage_update", "_turn")
"""After these, more may have been used."""


class Halted(list[Incoming]):
    """The agent's requests that wait while a turn stops for a budget."""

    def refuse(self) -> None:
        """Refuse all of them: what they ask for does not begin."""
        halted = list(self)
        self.clear()
        for incoming in halted:
            if incoming.method == "session/request_permission":
                incoming.reply({"outcome": {"outcome": "cancelled"}})
            else:
                incoming.fail(INTERNAL_ERROR, "a budget is reached, and the turn stops")


class BudgetWatch:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._ledger = ledger.Ledger(session.home, session.header.id, session.header.spent)
        self._letters = 0
        """That the agent streamed in this turn."""
        self._counts = False
        """A budget counts tokens."""
        self._noted: set[str] = set()
        self._continued = False
        """The last turn is one that the user let go on."""
        self._warned: set[tuple[str, str]] = set()
        """Of each budget, what was said about its being nearly reached."""
        self._closed = ""
        """The ask that was closed without an answer."""
        self._finishing: frozenset[str] | None = None
        """Calls and terminals that ran when a budget was reached in this turn."""
        session.weigh, session.halts = self._weigh, self._halts
        session.journal.at_least = self._streamed

    def _limits(self) -> dict[str, budgets.Budget]:
        return ledger.limits_of(self._session.header, self._session.config)

    # --- what was used ---------------------------------------------------------------------------

    def heard(self, events: list[Event]) -> None:
        """Take the events of a commit."""
        session, limits = self._session, self._limits()
        self._counts = any(each.tokens for each in limits.values())
        for event in events:
            match kind_of(event.update):
                case "_prompt" if event.update.get("steered") is not True:
                    self._letters = 0
                    self._continued = budgets.is_own(event.update)
                case "agent_message_chunk" | "agent_thought_chunk" | "_child":
                    self._letters += len(text_of(event.update) or "")
                case "_agent" if limits and event.update.get("state") == "ready":
                    self._tell_unmeasured(limits, session.profile().reports)
                case "_turn" if event.update.get("state") == "idle":
                    self._finishing = None
                    self._ledger.note(session.header.spent)
                    if limits and event.update.get("reason") == "end_turn":
                        self._tell_unmeasured(limits, self._reported())
                case "usage_update" if "day" in limits:
                    self._ledger.note(session.header.spent)
        if limits and any(kind_of(event.update) in GROWS for event in events):
            self._warn(limits)
        if (limits and session.turn.phase == "running") or session.turn.ask is not None:
            self._pause(limits)
        self.look_again()

    def _streamed(self) -> int:
        """Return a lower bound for the tokens that the running turn has used."""
        return self._letters // LETTERS if self._counts else 0

    def _spent(self) -> Json:
        """Return the session's usage, including what has only been streamed so far."""
        spent: Json = self._session.header.spent
        if self._session.turn.phase == "idle":
            return spent
        return spending.added(spent, max(0, self._streamed() - spent["turn"]["tokens"]))

    def _used(self, limits: dict[str, budgets.Budget], spent: Json) -> list[budgets.Reached]:
        """Return all budgets with what was used of each. `spent`: the session's usage, including
        the turn's."""
        book, header = self._ledger, self._session.header
        return budgets.all_used(header, limits, spent, lambda: book.total(spent), ledger.today())

    def _reached(self, limits: dict[str, budgets.Budget], spent: Json) -> list[budgets.Reached]:
        return [budget for budget in self._used(limits, spent) if budget.share >= 1]

    def _warn(self, limits: dict[str, budgets.Budget]) -> None:
        """Warn once for each budget before it is reached. If the user let a turn go on, warn when
        it passes the budget again, and each time that usage has doubled."""
        turn, spent = self._session.turn, self._spent()
        last = spent["turn"] if turn.phase == "idle" else spending.NOTHING
        for budget in self._used(limits, spent):
            no_turn = budget.scope == "turn" and turn.phase == "idle"
            key = budget.scope, str(budget.ceiling)
            if budgets.is_near(budget, last) and not no_turn and key not in self._warned:
                self._warned.add(key)
                self._session.append(Draft(notice(f"Budget nearly reached. {budget.sentence()}")))
            again = budget.scope, f"turn {turn.n}, {int(budget.share).bit_length()}"
            if budget.share >= 1 and self._continued and again not in self._warned:
                self._warned.add(again)
                text = f"Budget passed. {budget.sentence()} You let this turn continue."
                self._session.append(Draft(notice(text)))

    # --- in mid-turn -----------------------------------------------------------------------------

    def _pause(self, limits: dict[str, budgets.Budget]) -> None:
        session = self._session
        reached = self._reached(limits, self._spent())
        if not reached or session.turn.again == budgets.HOW:  # of one turn, the user is asked once
            return
        if self._finishing is None:
            self._finishing = self._running()
        busy = bool(self._finishing & self._running())
        session.feed_turn(turns.Paused(*self._asking(reached), busy, session.agent.pauses))

    def _asking(self, reached: list[budgets.Reached]) -> tuple[str, Draft]:
        """Return why the turn stops for a budget, and the ask that it ends with."""
        ask = Draft(self._ask(reached, paused=self._session.turn.n), None, "budget")
        return f"Budget reached. {reached[0].sentence()}", ask

    def _running(self) -> frozenset[str]:
        """List what the agent does right now: calls that do not wait for the user, and
        terminals."""
        header = self._session.header
        waiting = {calls.asked_of(header, ask) for ask in asks_of(header).values()}
        open_ = {
            block
            for key, (block, status, _) in header.tools.items()
            if status in OPEN and key not in waiting and calls.in_turn(header, block)
        }
        running = terminals.running(header.terminals).values()
        return frozenset(open_ | {each[0] for each in running if calls.in_turn(header, each[0])})

    def _halts(self, method: str) -> bool:
        """Tell whether a request is held back: while a turn stops, no new call begins. The requests
        of a call that still runs are let through."""
        session = self._session
        if session.turn.ask is None or session.agent.pauses or self._finishing is None:
            return False
        return method in ASKS or not self._running() <= self._finishing

    def _ask(self, reached: list[budgets.Reached], paused: int = 0) -> Json:
        name, nonce, day = os.urandom(4).hex(), os.urandom(16).hex(), ledger.today()
        return budgets.asked(name, nonce, reached[0], reached[1:], paused=paused, day=day)

    # --- before a turn ---------------------------------------------------------------------------

    def _weigh(self, turn: turns.Turn, given: turns.Input) -> turns.Turn:
        """Return the turn, barred if none may begin now, and with what a stopping one has used in
        the end."""
        if not isinstance(given, BEGINS):
            return turn._replace(barred=False)
        limits, spent = self._limits(), self._spent()
        if isinstance(given, turns.Answered) and isinstance(given.result, dict):
            more = spending.total_of(given.result) - spent["turn"]["tokens"]
            spent = spending.added(spent, max(0, more))
            if turn.ask is not None and (reached := self._reached(limits, spent)):
                why, ask = self._asking(reached)
                turn = turn._replace(because=why, ask=ask)
        limits.pop("turn", None)
        barred = budgets.open_ask(self._session.header) is not None
        return turn._replace(barred=barred or bool(self._reached(limits, spent)))

    def ask(self) -> None:
        """Ask the user about a budget that something waits behind."""
        if budgets.open_ask(self._session.header) is None:
            limits = {scope: each for scope, each in self._limits().items() if scope != "turn"}
            if reached := self._reached(limits, self._spent()):
                self._session.append(Draft(self._ask(reached), None, "budget"), full=True)

    # --- answers ---------------------------------------------------------------------------------

    def take_answer(self, ask: Ask, command: Json, by: str | None) -> Refusal | None:
        """Apply the user's answer: what waits goes on, unless another budget is reached, too."""
        session = self._session
        answer = asks.answered(ask, command, by)
        if isinstance(answer, Refusal):
            return answer
        self._closed = ask.id
        session.append(answer.draft, full=True)
        if command.get("option") not in budgets.GOES_ON:
            return None
        also = lenient.mappings(ask.budget, "also")
        self._go_on(ask, {lenient.text(each, "scope") for each in also})
        return None

    def _go_on(self, ask: Ask, also: set[str]) -> None:
        """Continue what waits. `also`: other budgets that were answered for."""
        session, paused = self._session, lenient.integer(ask.budget, "paused") or 0
        answered = {"turn", budgets.scope_of(ask), *also}
        rest = {key: each for key, each in self._limits().items() if key not in answered}
        if rest and (reached := self._reached(rest, self._spent())):
            session.append(Draft(self._ask(reached, paused), None, "budget"), full=True)
        elif paused:
            session.feed_turn(turns.AskedAgain(budgets.HOW, paused, budgets.CONTINUE))
        else:
            session.feed_turn(turns.Freed(paid=True))

    def look_again(self) -> None:
        """Continue without asking if a budget was raised, or its day is over."""
        ask = budgets.open_ask(self._session.header)
        if ask is None or ask.id == self._closed or self._session.turn.phase != "idle":
            return
        scope = budgets.scope_of(ask)
        limits = {key: each for key, each in self._limits().items() if key == scope}
        if self._reached(limits, self._spent()):
            return
        self._closed = ask.id
        over = lenient.text(ask.budget, "day") not in ("", ledger.today())
        why = "Continued: a new day began" if over else "Continued: the budget was raised"
        update = asks.closed(ask.id, {"outcome": budgets.LIFTED}, name=why)
        self._session.append(Draft(update), full=True)
        self._go_on(ask, set())

    # --- what cannot be measured -----------------------------------------------------------------

    def _reported(self) -> tuple[str, ...]:
        """Return what this agent has reported so far."""
        header = self._session.header
        spent, counts = header.spent, header.spending.get("counts")
        kinds = ["cost"] if counts or spent["cost"] else []
        has_tokens = header.usage.get("used") or spent["tokens"] > self._letters // LETTERS
        return (*kinds, "tokens") if has_tokens else tuple(kinds)

    def _tell_unmeasured(
        self, limits: dict[str, budgets.Budget], known: tuple[str, ...] | None
    ) -> None:
        """Warn once of a budget that cannot be measured: it would seem to hold."""
        if known is None:
            return
        agent = self._session.header.agent
        money = next((each for each in limits.values() if each.amount), None)
        if money and "cost" not in known and "cost" not in self._noted:
            self._noted.add("cost")
            amount = money._replace(tokens=0).as_text()
            text = f"{agent} reports no cost, so its budget of {amount} cannot be measured."
            self._session.append(Draft(notice(f"{text} Set a budget in tokens instead.")))
        if self._counts and not {"tokens"} & {*known, *self._noted}:
            self._noted.add("tokens")
            text = f"{agent} reports no tokens, so its budget counts only the text it sends."
            self._session.append(Draft(notice(text)))
