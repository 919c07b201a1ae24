"""A model saved in Rookery, for another vendor's agent (`[agents.NAME] saved_model`): its address
and key are passed with `providers/set` before the session opens.

An agent that cannot be given the model does not start: with its own, it would use another account.
"""

from collections.abc import Callable
from typing import NamedTuple

from rookery import models
from rookery.core.agent import messages
from rookery.core.json import Json, lenient
from rookery.core.vendors.errors import error_words
from rookery.worker.session import Session

LIST, SET = "providers/list", "providers/set"

type Then = Callable[[object, Json | None], None]


class Route(NamedTuple):
    """Where the requests for a model go."""

    api: str
    base_url: str
    headers: dict[str, str]


class Unusable(Exception):
    """A saved model cannot be given to an agent; the message says why."""


class SavedModel:
    def __init__(self, session: Session, call: Callable[[str, Json, Then], None]) -> None:
        """`call`: sends a request to the agent."""
        self._session, self._call = session, call

    def initialized(self, result: object, error: Json | None) -> None:
        """Hand the model over if there is one; then the agent is initialized."""
        session = self._session
        session.saved_model = ""
        name = session.extras().saved_model

        def over(why: str) -> None:
            message = f"{session.header.agent} cannot use the saved model {name!r}: {why}"
            session.feed_agent(messages.Initialized(None, {"message": message}))

        def listed(answer: object, wrong: Json | None) -> None:
            if wrong is not None:
                over(error_words(wrong))
                return
            provider = _provider(answer, route.api)
            if not provider:
                over(f"it takes no {route.api} models.")
                return
            where: Json = {"apiType": route.api, "baseUrl": route.base_url}
            params: Json = {"providerId": provider, **where, "headers": route.headers}
            self._call(SET, params, was_set)

        def was_set(_: object, wrong: Json | None) -> None:
            if wrong is not None:
                over(error_words(wrong))
                return
            session.saved_model = model
            session.feed_agent(messages.Initialized(result, error))

        if not name or error is not None:
            session.feed_agent(messages.Initialized(result, error))
            return
        capabilities = lenient.mapping(result, "agentCapabilities")
        if not isinstance(capabilities.get("providers"), dict):
            over("it takes no models from its client. Remove saved_model from its settings.")
            return
        try:
            model, route = _route(session.home, name)
        except Unusable as reason:
            over(str(reason))
            return
        self._call(LIST, {}, listed)


def _provider(answer: object, api: str) -> str:
    """Return the agent's provider that speaks this API, or "" if it has none."""
    for each in lenient.mappings(answer, "providers"):
        if api in lenient.texts(each, "supported"):
            return lenient.text(each, "providerId")
    return ""


def _route(home: str, name: str) -> tuple[str, Route]:
    """Return the id of a saved model, and its route. Raises Unusable."""
    try:
        profile = models.profiles.load(home).profiles.get(name)
    except models.documents.SettingsError as error:
        raise Unusable(str(error)) from error
    if profile is None:
        raise Unusable("there is no such model. `rookery setup` lists them and saves new ones.")
    api, key = models.providers.provider_of(profile.model), profile.key.reveal()
    model = profile.model.partition("/")[2] or profile.model
    match api:
        case "anthropic":
            base = profile.base_url or "https://api.anthropic.com"
            return model, Route(api, base, {"x-api-key": key} if key else {})
        case "openai":
            base = profile.base_url or "https://api.openai.com/v1"
            return model, Route(api, base, {"Authorization": f"Bearer {key}"} if key else {})
    raise Unusable(f"{profile.model} is neither an anthropic/ nor an openai/ model.")
