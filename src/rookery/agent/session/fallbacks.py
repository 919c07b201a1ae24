"""The models that a session falls back to when its own cannot answer, and their usage."""

from collections import Counter
from typing import Any

from rookery.agent.conversation.assembly import hide_key, llm_of
from rookery.agent.provider import fallback
from rookery.agent.provider.fallback import StandIn
from rookery.agent.sdk_patches import llm as llms
from rookery.agent.session.client_updates import ClientUpdates, tokens_in
from rookery.agent.session.models import Models, Profile
from rookery.core.json import Json
from rookery.models.documents import SettingsError

USAGE = "fallback"


class SessionFallbacks:
    """The fallbacks of a session. Called in any thread: sub-agents fall back, too."""

    def __init__(self, session: ClientUpdates, models: Models) -> None:
        self._session = session
        self._models = models
        self._shown: set[str] = set()
        """In this turn."""
        self._used: dict[str, Counter[str]] = {}
        self.last = ""
        """The model that answered last, if not the session's own."""

    def begin_turn(self) -> None:
        """Ask the session's own model first again, whichever answered in the turn before."""
        llms.begin_turn(self._session.running.agent)
        self._shown.clear()
        self.last = ""

    # --- for the model ---------------------------------------------------------------------------

    def after(self, name: str, error: BaseException, larger_than: int | None) -> StandIn | None:
        session, wanted = self._session, self._session.choices.wanted
        failed = name or wanted.model
        why = f"{failed} {fallback.describe_failure(error)}"
        try:
            known = list(self._models.fallbacks(wanted.model))
        except SettingsError:  # the file was broken meanwhile: there are none
            return None
        names = [each for each, _ in known]
        passed = names.index(name) + 1 if name in names else 0
        for each, model in known[passed:]:
            if not isinstance(model, Profile):
                self._tell(f"{each} cannot answer for {failed}: {model.sentence}")
                continue
            llm = llm_of(model, wanted._replace(effort="default"), session.on_retry, USAGE)
            size = llm.effective_max_input_tokens
            fits = fallback.is_final(error) if size is None else size > (larger_than or 0)
            if larger_than is not None and not fits:
                continue
            hide_key(session.running, model)
            self._tell(f"{why}; {each} answers this turn.")
            return StandIn(each, llm)
        if name:
            self._tell(f"{why}; no other model is left.")
        return None

    def used(self, name: str, metrics: Any) -> None:
        self._session.on_loop(self._count, name, tokens_in(metrics))

    def _count(self, name: str, tokens: Counter[str]) -> None:
        self.last = name
        self._used.setdefault(name, Counter()).update(tokens)

    def _tell(self, text: str) -> None:
        self._session.on_loop(self._tell_once, text)

    def _tell_once(self, text: str) -> None:
        if text not in self._shown:
            self._shown.add(text)
            self._session.take_back_half()
            self._session.notice(f"{text}\n")

    # --- for the answer --------------------------------------------------------------------------

    def take_used(self) -> list[Json]:
        """Return each model's tokens since the last time."""
        used, self._used = self._used, {}
        return [{"model": name, **tokens} for name, tokens in used.items()]
