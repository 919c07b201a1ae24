"""Which API a request speaks, by its path."""

import re
from collections.abc import Mapping

from rookery.agent.scripted.anthropic import Anthropic
from rookery.agent.scripted.dialects import Chat, Dialect, Responses
from rookery.agent.scripted.gemini import Gemini

FIXED: Mapping[str, Dialect] = {
    "/v1/chat/completions": Chat(),
    "/v1/responses": Responses(),
    "/v1/messages": Anthropic(),
}
GEMINI = re.compile(r"(?:/v1\w*)?/models/([^/:]+):(generateContent|streamGenerateContent)")


def dialect_at(path: str) -> Dialect | None:
    found = GEMINI.fullmatch(path)
    if found:
        return Gemini(found[1], stream=found[2] == "streamGenerateContent")
    return FIXED.get(path)
