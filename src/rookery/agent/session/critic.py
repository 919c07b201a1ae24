"""The critic of a session: a judge among the saved models, or the API's."""

from typing import TYPE_CHECKING

from rookery.agent.conversation import critic as critics
from rookery.agent.conversation.assembly import llm_of
from rookery.agent.session.models import Profile
from rookery.core.json import Json

if TYPE_CHECKING:
    from rookery.agent.session.session import Session


def verdict(session: "Session") -> Json | None:
    """Return the critic's verdict on the turn that ended; None if there is none. Blocks."""
    try:
        return _asked(session)
    except Exception:  # noqa: BLE001 - a critic that cannot be had is none (see docs/agent.md)
        return None


def _asked(session: "Session") -> Json | None:
    settings = session.models.settings()
    critic = settings.critic
    model = session.models.chosen(session.choices.wanted.model)
    if not critic.enabled or not isinstance(model, Profile):
        return None
    if critic.judge:
        known = critic.judge in settings.profiles  # one that was deleted judges nothing
        judge = session.models.chosen(critic.judge) if known else None
        if not isinstance(judge, Profile):
            return None
        quiet = session.choices.wanted._replace(streaming=False, effort="default")
        return critics.judge_by_model(session.running, llm_of(judge, quiet, None, "critic"))
    if critics.has_api_critic(model):
        return critics.judge_by_api(session.running, model)
    return None
