"""A critic's verdict on a turn: by the SDK's API critic if the model comes from the OpenHands
proxy, or by a judge, another of the user's models. Failures are silent."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from openhands.sdk import LLM, LocalConversation, Message, TextContent
from openhands.sdk.critic.impl.api import APIBasedCritic
from openhands.sdk.event import LLMConvertibleEvent

from rookery.agent import private
from rookery.agent.sdk_patches import sdk_files
from rookery.core.json import Json
from rookery.models.profiles import Profile
from rookery.models.secrets import Secret

PROXY = re.compile(r"^https?://llm-proxy\.[^./]+\.all-hands\.dev")
KINDS = {
    "agent_behavioral_issues": "behavioural",
    "user_followup_patterns": "user",
    "infrastructure_issues": "infrastructure",
    "other": "other",
}
WITHIN = 50.0
"""Seconds for the API's answer."""
RESTS = 600.0
"""Seconds without a call after a failure: each turn would wait again."""
MAX_JUDGED_LENGTH = 40_000
"""Characters at the end of a conversation that a judge reads."""
ASKED = (
    "You judge the work of a coding agent. Below is the end of its conversation with a user. "
    "Answer with one JSON object and nothing else: "
    '{"score": 0 to 1, how likely the user is satisfied, '
    '"issues": [{"name": "a short sentence", "category": "one word", "probability": 0 to 1, '
    '"kind": "behavioural" or "infrastructure"}]}. Infrastructure issues are not the '
    "agent's fault. Without issues, use an empty list."
)


def has_api_critic(model: Profile) -> bool:
    return bool(model.key) and PROXY.match(model.base_url or "") is not None


def critic_url(base_url: str) -> str:
    """Return the critic's address on the model's own host: its key is sent to no other."""
    where = urlsplit(base_url)
    return f"{where.scheme}://{where.netloc}/vllm"


_resting: dict[tuple[str, Secret], float] = {}


def judge_by_api(conversation: LocalConversation, model: Profile) -> Json | None:
    """Ask the API critic. Blocks. Returns None after a recent failure. Raises the SDK's errors."""
    place = critic_url(model.base_url), model.key
    if time.monotonic() < _resting.get(place, 0.0):
        return None
    verdict = None
    try:
        verdict = _ask_api(conversation, *place)
    finally:
        if verdict is None:
            _resting[place] = time.monotonic() + RESTS
    return verdict


def _ask_api(conversation: LocalConversation, url: str, key: Secret) -> Json:
    critic = APIBasedCritic(
        server_url=url, api_key=key.reveal(), model_name="critic", timeout_seconds=WITHIN
    )
    try:
        result = critic.evaluate(_events(conversation))
    except ValueError:  # also for half a template: it is fetched again next time
        sdk_files.forget_template(critic)
        raise
    finally:
        private.close_critic(critic)
    listed = (result.metadata or {}).get("categorized_features") or {}
    return {"score": result.score, "source": "api", "issues": issues_of(listed)}


def issues_of(categorized: Mapping[str, Any]) -> list[Json]:
    return [
        {
            "category": category,
            "name": feature.get("display_name") or feature.get("name"),
            "probability": feature.get("probability"),
            "kind": kind,
        }
        for category, kind in KINDS.items()
        for feature in categorized.get(category) or []
    ]


def judge_by_model(conversation: LocalConversation, llm: LLM) -> Json | None:
    """Ask a judge model. Blocks. Returns None if the answer is not a verdict."""
    lines = [
        f"{message.role}: {_text(message)}"
        for message in LLMConvertibleEvent.events_to_messages(_events(conversation)[1:])
    ]
    text = "\n\n".join(lines)[-MAX_JUDGED_LENGTH:]
    messages = [
        Message(role="system", content=[TextContent(text=ASKED)]),
        Message(role="user", content=[TextContent(text=text)]),
    ]
    answer = llm.generate(messages=messages)
    return verdict_of(_text(answer.message))


def verdict_of(answer: str) -> Json | None:
    start, end = answer.find("{"), answer.rfind("}")
    try:
        value = json.loads(answer[start : end + 1])
    except ValueError:
        return None
    score = value.get("score") if isinstance(value, dict) else None
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        return None
    given = value.get("issues")
    issues = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    keys = ("category", "name", "probability", "kind")
    kept = [{key: each[key] for key in keys if key in each} for each in issues]
    return {"score": float(score), "source": "judge", "issues": kept}


def _events(conversation: LocalConversation) -> list[LLMConvertibleEvent]:
    branch = conversation.state.active_branch()
    return [event for event in branch if isinstance(event, LLMConvertibleEvent)]


def _text(message: Message) -> str:
    texts = [part.text for part in message.content if isinstance(part, TextContent)]
    called = [f"[calls {call.name} {call.arguments}]" for call in message.tool_calls or []]
    return "\n".join([*texts, *called])
