"""What is known about the providers of models without asking anybody."""

import ipaddress
from urllib.parse import urlsplit

PLACEHOLDER = "no-key-needed"
"""Sent where no key is needed: the client library insists on one."""

LOCAL = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "vllm"})
"""Providers that run on a person's own machine."""

BY_ENVIRONMENT = frozenset({"bedrock", "sagemaker", "vertex_ai", "azure_ai", "github_copilot"})
"""Providers that find their credentials by themselves."""

KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "groq": "GROQ_API_KEY",
    "xai": "XAI_API_KEY",
}
"""Where a provider's key is usually kept."""


def provider_of(model: str) -> str:
    """The part before the first slash; what has none is guessed as litellm does."""
    provider, slash, _ = model.partition("/")
    if slash:
        return provider.lower()
    name = model.lower()
    for beginning, guess in (("claude", "anthropic"), ("gpt", "openai"), ("gemini", "gemini")):
        if name.startswith(beginning):
            return guess
    return ""


def key_variable(model: str) -> str:
    return KEY_VARIABLES.get(provider_of(model), "")


def needs_key(model: str, base_url: str) -> bool:
    """Not what runs on this machine, nor what brings its own credentials."""
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
