"""Facts about the providers of models."""

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

PLACEHOLDER = "no-key-needed"
"""Sent if no key is needed: the client library requires one."""

LOCAL = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "vllm"})
"""Providers that run on the user's machine."""

BY_ENVIRONMENT = frozenset({"bedrock", "sagemaker", "vertex_ai", "azure_ai", "github_copilot"})
"""Providers that find their own credentials."""

_KEYED = ("anthropic", "openai", "gemini", "mistral", "deepseek", "openrouter", "groq", "xai")
KEY_VARIABLES = {provider: f"{provider.upper()}_API_KEY" for provider in _KEYED}
"""The usual environment variable of a provider's key."""


def provider_of(model: str) -> str:
    """Return the part before the first slash; without one, guess like litellm."""
    provider, slash, _ = model.partition("/")
    if slash:
        return provider.lower()
    guesses = {"claude": "anthropic", "gpt": "openai", "gemini": "gemini"}
    return next((guesses[word] for word in guesses if model.lower().startswith(word)), "")


def key_variable(model: str) -> str:
    return KEY_VARIABLES.get(provider_of(model), "")


def needs_key(model: str, base_url: str) -> bool:
    """Tell whether a model needs a key: not if it runs on this machine or has its own
    credentials."""
    provider = provider_of(model)
    return not (provider in LOCAL or provider in BY_ENVIRONMENT or is_loopback(base_url))


def is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


PRIVILEGED = 1024
"""Ports below are not for a container's user."""


def loopback_ports(urls: Iterable[str]) -> list[int]:
    """Return the ports of this machine that these addresses name."""
    ports = set[int]()
    for url in filter(is_loopback, urls):
        with suppress(ValueError):
            ports.add(urlsplit(url if "//" in url else f"//{url}").port or 0)
    return sorted(port for port in ports if port >= PRIVILEGED)


# ---------------------------------------------------------------- who can be chosen


class Provider(NamedTuple):
    name: str
    title: str
    prefix: str
    """Before the model's name, for litellm."""
    models: tuple[str, ...] = ()
    """Some that work well; any other can be named."""
    api: str = ""
    """Its OpenAI-compatible API; "": it has none, or the user is asked."""
    key_url: str = ""
    """Where to get a key."""
    keyless: bool = False
    asks_url: bool = False


PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "anthropic",
        "Anthropic",
        "anthropic",
        ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
        key_url="https://console.anthropic.com/settings/keys",
    ),
    Provider(
        "openai",
        "OpenAI",
        "openai",
        ("gpt-6.1-sol", "gpt-5.6", "gpt-5.3-codex"),
        "https://api.openai.com/v1",
        "https://platform.openai.com/api-keys",
    ),
    Provider(
        "gemini",
        "Google Gemini",
        "gemini",
        ("gemini-4-argon", "gemini-3.8-flash", "gemini-3.1-pro-preview"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "https://aistudio.google.com/apikey",
    ),
    Provider(
        "openhands",
        "OpenHands",
        "openhands",
        ("claude-sonnet-5-5", "gpt-6.1-sol", "devstral-medium-2512"),
        "https://llm-proxy.app.all-hands.dev/v1",
        "https://app.all-hands.dev/settings/api-keys",
    ),
    Provider(
        "mistral",
        "Mistral",
        "mistral",
        ("devstral-medium-2512", "devstral-2512"),
        "https://api.mistral.ai/v1",
        "https://console.mistral.ai/api-keys",
    ),
    Provider(
        "deepseek",
        "DeepSeek",
        "deepseek",
        ("deepseek-chat", "deepseek-v4-pro"),
        "https://api.deepseek.com/v1",
        "https://platform.deepseek.com/api_keys",
    ),
    Provider(
        "ollama",
        "Ollama, on this machine",
        "ollama_chat",
        api="http://localhost:11434/v1",
        keyless=True,
    ),
    Provider(
        "lm-studio",
        "LM Studio, on this machine",
        "lm_studio",
        api="http://localhost:1234/v1",
        keyless=True,
        asks_url=True,
    ),
    Provider("openai-compatible", "Another OpenAI-compatible server", "openai", asks_url=True),
)

OTHER_PREFIXES = frozenset(
    {
        *("azure", "azure_ai", "bedrock", "cohere", "cohere_chat", "dashscope", "databricks"),
        *("digitalocean", "fireworks_ai", "github_copilot", "groq", "huggingface", "litellm_proxy"),
        *("minimax", "moonshot", "nvidia_nim", "ollama", "openrouter", "perplexity", "sagemaker"),
        *("together_ai", "vertex_ai", "watsonx", "xai", "zai", "hosted_vllm", "llamafile", "vllm"),
    }
)
PREFIXES = OTHER_PREFIXES | {provider.prefix for provider in PROVIDERS}
"""Known prefixes of a model's name; litellm knows more."""

OPENAI_APIS = {
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "xai": "https://api.x.ai/v1",
}
"""OpenAI-compatible APIs of providers that are not offered."""


def find(name: str) -> Provider | None:
    return next((each for each in PROVIDERS if name in (each.name, each.prefix)), None)


def api_of(model: str, base_url: str) -> str:
    """Return the OpenAI-compatible API of a model; "" if it has none."""
    prefix = provider_of(model)
    if prefix in ("ollama", "ollama_chat"):
        base = base_url.rstrip("/") or "http://localhost:11434"
        return base if base.endswith("/v1") else f"{base}/v1"
    known = next((each.api for each in PROVIDERS if each.prefix == prefix and each.api), "")
    api = known or OPENAI_APIS.get(prefix, "")
    shaped = api or prefix in {"litellm_proxy", "hosted_vllm", "llamafile"}
    return (base_url or api) if shaped else ""
