"""Counting tokens, cost and turns of all sessions, by day, agent, model or session."""

from rookery.usage.collection import Filters, collect
from rookery.usage.groups import BY, Group, grouped, total
from rookery.usage.meter import Row

__all__ = ["BY", "Filters", "Group", "Row", "collect", "grouped", "total"]
