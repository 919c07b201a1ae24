"""The settings in force, and changes to config.toml."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.client.config import agent_address, edit, in_force, own_agents, rule_text
else:
    __getattr__ = late_modules(__name__)
