"""Asks that outlive their agent, in a worker: they are asked again before anything else, and paired
with what the agent then asks. The decisions are made in `core/asks/kept_asks`."""

from functools import partial

from rookery.core.agent.names import agent_name
from rookery.core.ask import Ask, ask_of
from rookery.core.asks import asks as ask_rules
from rookery.core.asks import identity, kept_asks, links
from rookery.core.asks.asks import ALLOWS, WRONG_NONCE, Answer, Refusal, pick_id
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.policy import hook_asks, modes
from rookery.core.tools.calls import ENDED, key_of
from rookery.core.turn import messages
from rookery.wire.jsonrpc import INVALID_PARAMS, Incoming
from rookery.worker.asks import Asks
from rookery.worker.policy.auto_answer import AutoAnswer
from rookery.worker.session import Session

CALLS_KEPT = 100
"""Announced calls that are not over, of which all is remembered: a permission may be about them."""

WORKS = ("terminal/create", "fs/write_text_file")
"""Requests by which an agent changes something."""


class KeptAsks:
    def __init__(self, session: Session, open_: Asks, auto_answer: AutoAnswer) -> None:
        self._session = session
        self._open = open_
        self._auto_answer = auto_answer
        self._rules = session.config.rules
        """By which everything that is asked was judged."""
        self._wanted = bool(kept_asks.away(session.header))
        """What a worker before this one left is asked again first."""
        self._deaths = 0
        """Of agents that had something asked, since the user last did anything about it."""
        self.calls: dict[str, Json] = {}
        """Of the turn, what a permission may be about."""
        self.superseded: set[str] = set()
        """Asks that another one took the place of; an answer to them may still be on its way."""
        self._marked = 0
        self._completed = {""}

    # --- asking again ----------------------------------------------------------------------------

    def want(self, *, by_user: bool = True) -> None:
        """Have the kept asks asked again at the next look."""
        self._wanted = True
        self._deaths = 0 if by_user else self._deaths

    def agent_died(self) -> None:
        """Have the agent started again after it died by itself, unless it dies each time."""
        self.calls.clear()
        agent, policy = self._session.agent, self._session.policy
        self._deaths += bool(self._session.header.asks)
        if not agent.past.parked and self._deaths <= policy.crash_most:
            self._wanted = True

    def look(self) -> bool:
        """Once everything is committed, answer what new rules allow and ask again what is due.
        Return whether there is more to do."""
        session = self._session
        if session.config.rules is not self._rules:
            self._rules = session.config.rules
            if covered := self._auto_answer.covered():
                self._close(covered)
                return True
        if not self._wanted or session.turn.phase != "idle":
            return False
        self._wanted = False
        how = kept_asks.plan(session.header, resends=self._session.profile().resends)
        if not how:
            return False
        if how != kept_asks.DECIDE and self.ask_again(how):
            return True
        for draft in kept_asks.undecided(session.header):
            session.append(draft, full=True)
        return True

    def ask_again(self, how: str) -> bool:
        """Begin the turn that brings kept asks back; False if its prompt is no longer known."""
        kept = kept_asks.away(self._session.header).values()
        turn = max((ask.away.turn for ask in kept if ask.away), default=0)
        of, prompt = self.prompt_of(turn)
        if not prompt and how != kept_asks.CONTINUE:
            return False
        if how == kept_asks.RESEND and kept_asks.is_first(self._session.header, of):
            how = kept_asks.ANEW
        self._session.feed_turn(messages.AskedAgain(how, of, prompt))
        return True

    def prompt_of(self, turn: int) -> tuple[int, list[Json]]:
        """Return the user's turn that this one goes back to, and its prompt."""
        while (begun := self._session.journal.writer.prompt_of(turn)) is not None:
            of = lenient.integer(begun, "of")
            if begun.get("origin") != kept_asks.ORIGIN or of is None or not 0 < of < turn:
                return turn, list(lenient.mappings(begun, "prompt"))
            turn = of
        return turn, []

    def stands_first(self) -> bool:
        """Have the kept asks asked again before a prompt. Return whether the user must decide
        before any prompt can be sent."""
        if not kept_asks.away(self._session.header):
            return False
        self.want()
        self.look()
        return self._session.turn.phase == "idle"

    # --- what the agent asks ---------------------------------------------------------------------

    def announced(self, update: Json) -> None:
        """Take a call, or an update of one: it is compared when its ask is asked again."""
        key, status = key_of(update), update.get("status")
        known = self.calls.pop(key, {})
        if status not in ENDED:
            # What a call says while it runs is what comes out of it.
            news = {**update, "content": None} if status == "in_progress" else update
            self.calls[key] = identity.known_call(known, news)
            if len(self.calls) > CALLS_KEPT:
                del self.calls[next(iter(self.calls))]

    def stands_again(self, ask: Ask) -> tuple[Ask, Ask | None]:
        """Return the ask as it is logged, and the kept ask that it repeats, if any."""
        key = key_of(ask.call)
        others = [call for name, call in self.calls.items() if name != key]
        same = identity.digest(ask, self.calls.get(key), others)
        header = self._session.header
        ask = ask.with_(same=same, agent=agent_name(header))
        old = kept_asks.matching(header, same, self._open.names())
        if old is not None:
            self._open.rename(ask.id, old.id)
            return ask.with_(id=old.id, nonce=old.nonce, again=True), old
        if self._session.turn.again and (gives_way := kept_asks.replaced(header)) is not None:
            self.superseded.add(gives_way.id)
            self._session.append(kept_asks.superseded(gives_way), full=True)
        return ask, None

    def overrides(self, old: Ask | None, ruling: Answer) -> bool:
        """Tell whether a kept answer of the user's counts more than a mode's. A rule's denial does
        not give way."""
        given = old is not None and old.given is not None
        return given and ruling.draft.update.get("verdict") != "deny"

    def announce(self, ask: Ask, old: Ask | None) -> None:
        """Log an ask. If it was answered in the meantime, that answer is passed on, and clients
        need not ask anybody."""
        given = old.given if old else None
        if given is None:
            self._session.append(Draft(ask.update))
            return
        command = given.answer | ask.answer | {"id": None}
        fits = not isinstance(kept_asks.kept_answer(ask, command, given.by), Refusal)
        if fits and not command.get("always"):  # a rule may still fail to be written
            ask = ask.with_(ruled=f"you answered “{given.name}” while the agent was away")
        self._session.append(Draft(ask.update))
        refusal = self.give(ask, command, given.by)
        if refusal is not None:
            text = f"The answer {given.name!r} was not sent to the agent: {refusal.message}"
            self._session.append(Draft(notice(text)))

    def mark_work(self, method: str) -> None:
        """Mark the turn before an agent of ours changes something: a turn that did is not sent
        again silently."""
        session = self._session
        if method not in WORKS or session.turn.phase != "running" or self._marked == session.turn.n:
            return
        self._marked = session.turn.n
        turn: Json = {"sessionUpdate": "_turn", "state": "running", "turn": session.turn.n}
        session.append(Draft(turn | {"ran": True}))

    # --- what the agent takes back ---------------------------------------------------------------

    def withdraw(self, name: str) -> None:
        session = self._session
        if session.agent.phase == "ending" or name not in self._open.names():
            return  # it takes nothing back that is kept
        if name in session.header.asks:
            outcome = {"outcome": "cancelled"}
            update = ask_rules.closed(name, outcome, reason="withdrawn by the agent")
            session.do_next([messages.Append(Draft(update))])  # before a cancel closes it again
        self._open.withdraw(name)

    def completed(self, elicitation: str) -> None:
        """Take the news that what a link was for is done. Its ask may not be in the header yet."""
        if links.completed(self._session.header, elicitation):
            self._complete(elicitation)
        else:
            self._session.then(self._complete, elicitation)

    def _complete(self, elicitation: str) -> None:
        """Take the ask back; if it was accepted, nobody waits for the browser any more."""
        session = self._session
        name = links.completed(session.header, elicitation)
        if name in self._completed:  # told twice before the header could change
            return
        self._completed.add(name)
        if ask := ask_of(session.header, name):
            answer = ask_rules.completed(ask)
            reply = partial(self._open.reply, name, answer.reply)
            session.do_next([messages.Append(answer.draft, full=True), reply])
        elif name:
            update: Json = {"sessionUpdate": "_ask", "id": name, "state": "completed"}
            session.append(Draft(update))

    def refuse_link(self, incoming: Incoming, why: str) -> None:
        incoming.fail(INVALID_PARAMS, why)
        text = links.refused(self._session.header.agent, incoming.params, why)
        self._session.append(Draft(notice(text)))

    # --- answers ------------------------------------------------------------------------------

    def give(self, ask: Ask, command: Json, by: str | None) -> Refusal | None:
        """Answer the agent that asks; return why that was refused, or None."""
        always = _always(command)
        if always:
            command = {**command, "option": pick_id(ask.options, ALLOWS)}
        answer = ask_rules.answered(ask, command, by)
        if isinstance(answer, Refusal):
            return answer
        session, notice, others = self._session, None, list[tuple[Ask, Answer]]()
        if always:
            rule = self._auto_answer.allow_always(ask, always)
            if isinstance(rule, Refusal):
                return rule
            others = [each for each in self._auto_answer.covered() if each[0].id != ask.id]
            answer, notice = modes.with_rule(answer, rule, len(others))
        if session.profile().judged and hook_asks.is_one(ask.call):
            option = "" if command.get("cancel") else lenient.text(command, "option")
            if refusal := self._auto_answer.trust_hooks(ask, option):
                return refusal
        session.append(answer.draft, full=True)
        if notice is not None:
            session.append(notice)
            self._close(others)
        takes = session.profile().takes_reasons
        reply = answer.reply if takes else ask_rules.without_reason(answer.reply)
        session.then(self._open.reply, command["ask"], reply)
        reason = lenient.text(command, "reason").strip()
        if reason and not takes:
            cause, allows = f"{command['id'] or ask.nonce}.reason", ask_rules.allows(ask, command)
            self._pass_on(cause, reason, by, steers=allows and session.agent.steers)
        return None

    def _close(self, answered: list[tuple[Ask, Answer]]) -> None:
        """Close open asks that a rule allows by now."""
        for ask, answer in answered:
            self._session.append(answer.draft, full=True)
            self._session.then(self._open.reply, ask.id, answer.reply)

    def _pass_on(self, cause: str, text: str, by: str | None, *, steers: bool) -> None:
        """Send the agent the text that the user gave with an answer, as a prompt: into the running
        turn (`steers`), or first in the queue."""
        session, prompt = self._session, [{"type": "text", "text": text}]
        if steers:
            session.feed_turn(messages.SteerWanted(cause, prompt, by, able=True))
        else:
            session.feed_turn(messages.Prompted(cause, prompt, by, reason=True))

    def take_answer(self, ask: Ask, command: Json, by: str | None) -> Refusal | None:
        """Keep an answer until the agent asks again; or give the ask up; or send its prompt
        again."""
        session = self._session
        if kept_asks.is_drop(ask, command):
            return self._drop(ask, command, by)
        if kept_asks.is_late(ask, command):
            session.done(command, by, kept_asks.LATE)
            return None
        if kept_asks.is_again(ask, command):
            return self._send_again(ask, command, by)
        kept = kept_asks.kept_answer(ask, command, by)
        if isinstance(kept, Refusal):
            return kept
        session.append(kept, full=True)
        self.want()
        return None

    def _drop(self, ask: Ask, command: Json, by: str | None) -> Refusal | None:
        closed = kept_asks.dropped(ask, command, by)
        if isinstance(closed, Refusal):
            return closed
        session = self._session
        session.append(closed, full=True)
        if kept_asks.away(session.header).keys() == {ask.id}:
            busy = session.turn.again and session.turn.phase != "idle"
            session.feed_turn(messages.CancelWanted(None, by) if busy else messages.Freed())
        return None

    def _send_again(self, ask: Ask, command: Json, by: str | None) -> Refusal | None:
        if command.get("nonce") != ask.nonce:
            return WRONG_NONCE
        self._session.done(command, by, "sent again")
        self._deaths = 0
        if self._session.turn.phase == "idle" and not self.ask_again(kept_asks.FORCED):
            return Refusal("no_prompt", "The prompt of that turn is no longer in the log.")
        return None

    def give_up(self, why: str, by: str | None) -> None:
        """Give up all kept asks, unless a turn runs that may bring them back: then they end with
        the turn."""
        if self._session.turn.phase != "idle":
            return
        for draft in kept_asks.given_up(self._session.header, why, by):
            self._session.append(draft, full=True)


def _always(command: Json) -> int:
    """Return which of the rules that an ask offers was chosen, counted from 1; 0 if none."""
    chosen = command.get("always")
    if isinstance(chosen, bool):
        return int(chosen)
    return chosen if isinstance(chosen, int) and chosen > 0 else 0
