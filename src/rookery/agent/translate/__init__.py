"""The SDK's events as ACP's session updates."""

from rookery.agent.translate.translator import Translator

__all__ = ["Translator"]
