"""Brings a session back to a turn, or undoes that: first the current state is kept; then the files
are restored, as far as they are the session's own or the user agreed to more; then the conversation
and the agent's memory of it."""

from typing import NamedTuple

from rookery.client.rewind.preview import Question, end_of, header_after, judged, question
from rookery.core.agent import messages
from rookery.core.asks.asks import Refusal
from rookery.core.json import Draft, Json, lenient
from rookery.core.turn import rewinding
from rookery.core.turn.remedies import why_busy
from rookery.core.turn.rewind_preview import CHANGED, LOOK_AGAIN, WORDS
from rookery.core.turn.rewinding import KIND, SNAPSHOT, Memory, Ranges
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.worker.agent.side import AgentSide
from rookery.worker.agent.snapshots import Snapshots
from rookery.worker.session import Session

KEPT = 100
"""Paths that the log names of those that were left alone."""

HALF = "Files may be half restored; run"
INTERRUPTED = f"The worker was killed while it restored files. {HALF} the rewind again."


class _Plan(NamedTuple):
    command: Json
    by: str
    turn: int
    undo: bool
    asked: Question
    target: str = ""
    """The snapshot that the files become; "": they stay."""
    hidden: Ranges | None = None
    """None: the conversation stays."""
    memory: Memory = Memory(None)
    last: str = ""
    """The last line of what was said until there, for lists."""

    def update(self, state: str, **more: object) -> Json:
        about = {"files": bool(self.target), "conversation": self.hidden is not None}
        return {
            "sessionUpdate": KIND,
            "state": state,
            "turn": self.turn,
            "undo": self.undo,
            **about,
            **more,
        }


class Rewind:
    def __init__(self, session: Session, side: AgentSide, snapshots: Snapshots) -> None:
        self._session = session
        self._side = side
        self._snapshots = snapshots
        self.under_way = False
        """No other command is carried out meanwhile."""
        if session.header.rewinding:
            failed = {"sessionUpdate": KIND, "state": "failed", "message": INTERRUPTED}
            session.append(Draft(failed))

    def start(self, command: Json, by: str) -> Refusal | None:
        session = self._session
        if session.turn.phase != "idle":
            return Refusal("busy", why_busy(session.header, "rewind"))
        if session.agent.heir is not None:
            return Refusal("switching", "A switch to another agent is under way.")
        if session.agent.phase not in ("absent", "ready"):
            return Refusal("not_ready", "The agent is starting or ending: try again in a moment.")
        undo = command.get("undo") is True
        try:
            with Reader.open(session.directory) as log:
                asked = question(log, 0 if undo else int(command["turn"]), undo=undo)
                if isinstance(asked, Refusal):
                    return asked
                bare = _Plan(command, by, asked.turn, undo, asked)
                plan = self._undo(log, bare) if undo else self._plan(log, bare)
        except LogError as error:
            return Refusal("unreadable", str(error))
        if isinstance(plan, Refusal):
            return plan
        session.asked.add(command["id"])
        self.under_way = True
        if plan.target:
            self._snapshots.run(asked.job(), lambda outcome: self._compared(plan, outcome))
        else:
            self._converse(plan, {})
        return None

    # --- plans -----------------------------------------------------------------------------------

    def _plan(self, log: Reader, plan: _Plan) -> _Plan | Refusal:
        header, turn = self._session.header, plan.turn
        last = header.turn
        if rewinding.wants(plan.command, "files"):
            if not plan.asked.target:
                return Refusal("no_snapshot", plan.asked.notes[0])
            plan = plan._replace(target=plan.asked.target)
        if rewinding.wants(plan.command, "conversation"):
            firsts = [log.first_seq(n) for n in range(1, last + 1)]
            events, began = log.of_kinds(*rewinding.MEMORY), log.spans(turn + 1)[0]
            memory = rewinding.memory_at(events, firsts, turn, header, began, end_of(log, turn))
            then = header_after(log, turn)
            hidden = [*then.hidden, *([[firsts[turn], log.last_seq()]] if turn < last else [])]
            plan = plan._replace(hidden=rewinding.joined(hidden), memory=memory, last=then.last)
        return plan

    def _undo(self, log: Reader, plan: _Plan) -> _Plan | Refusal:
        done = self._session.header.rewound or {}
        if rewinding.wants(plan.command, "files"):
            plan = plan._replace(target=plan.asked.target)
        if done["conversation"] and rewinding.wants(plan.command, "conversation"):
            hidden, since = list(done["was"]["hidden"]), log.first_seq(done["at"] + 1)
            if since:  # the turns of the way that is left
                hidden.append([since, log.last_seq()])
            session = done["was"]["agentSession"]
            how = rewinding.LOADED if session else ""
            memory = Memory(session, how)
            last = lenient.text(done["was"], "last")
            plan = plan._replace(hidden=rewinding.joined(hidden), memory=memory, last=last)
        if not plan.target and plan.hidden is None:
            return Refusal("nothing_to_undo", "The last rewind has nothing of that to undo.")
        return plan

    # --- steps -----------------------------------------------------------------------------------

    def _compared(self, plan: _Plan, comparison: Json) -> None:
        """Judge the changes: the current files are stored now, so the rewind can be undone."""
        if "changes" not in comparison:
            self._fail(plan, comparison, begun=False)
            return
        home = self._session.home
        self._snapshots.think(
            lambda: {"preview": judged(home, plan.asked, comparison)},
            lambda verdict: self._judged(plan, verdict),
        )

    def _judged(self, plan: _Plan, verdict: Json) -> None:
        if "preview" not in verdict:
            self._fail(plan, verdict, begun=False)
            return
        session, preview = self._session, verdict["preview"]
        chosen = preview.accepted(lenient.text(plan.command, "fingerprint"))
        if chosen is None:
            self._fail(plan, {"refused": CHANGED, "message": LOOK_AGAIN}, begun=False)
            return
        paths, present = {*chosen}, preview.present
        rest = [each for each in preview.changes if each.path not in paths]
        kept = {each.path: WORDS.get(each.by, each.by) for each in rest}
        taken = {"sessionUpdate": SNAPSHOT, "turn": session.header.turn, "when": "rewind"}
        session.append(Draft(taken | {"id": present}))
        if not paths:
            self._report(plan, present, {"id": present, "changes": [], "same": True}, kept)
            return
        session.append(Draft(plan.update("begun", present=present)), full=True)
        request = {"do": "restore", "present": present, "target": plan.target, "paths": chosen}
        session.then(
            self._snapshots.run, request, lambda reply: self._report(plan, present, reply, kept)
        )

    def _report(self, plan: _Plan, present: str, reply: Json, kept: dict[str, str]) -> None:
        if "id" not in reply:
            self._fail(plan, reply, begun=True)
            return
        kept = lenient.mapping(reply, "kept") | kept
        about: Json = {"present": present, "after": reply["id"], "changed": len(reply["changes"])}
        about |= {"kept": dict(list(kept.items())[:KEPT]), "keptTotal": len(kept)}
        self._converse(plan, about | {"same": reply["same"]})

    def _converse(self, plan: _Plan, about: Json) -> None:
        """Log the rewind as done, once nothing that is taken back can speak any more."""
        session = self._session
        self.under_way = False
        draft = Draft(plan.update("done", **about), plan.command["id"], plan.by)
        if plan.hidden is None:
            session.append(draft, full=True)
            return
        self._side.kept.give_up("the conversation was rewound", None)
        memory: Json = {"agentSession": plan.memory.session, "memory": plan.memory.how}
        memory["last"] = plan.last
        done = draft._replace(update=draft.update | {"hidden": plan.hidden} | memory)
        session.feed_agent(messages.Replaced(done, start=False))

    def _fail(self, plan: _Plan, reply: Json, *, begun: bool) -> None:
        self.under_way = False
        message = lenient.text(reply, "message") or "The files could not be restored."
        if begun:
            again = "--undo" if plan.undo else f"{plan.turn} --files"
            message += f" {HALF} `rookery rewind {self._session.header.id} {again}` again."
            self._session.append(Draft(plan.update("failed", message=message)))
        refusal = Refusal(lenient.text(reply, "refused") or "failed", message)
        self._session.reject(plan.command, refusal, plan.by)
