"""Translates the SDK's events to ACP's session updates."""

from rookery.agent.translate.translator import Translator

__all__ = ["Translator"]
