"""Foreign JSON and foreign text: parsed leniently, shown safely."""

from rookery.core.json.events import Draft, Event, Json, dumps, kind_of, loads, notice

__all__ = ["Draft", "Event", "Json", "dumps", "kind_of", "loads", "notice"]
