"""Foreign JSON and foreign text: parsed leniently, shown safely."""

from rookery import late_modules
from rookery.core.json.events import Draft, Event, Json, dumps, kind_of, loads, notice

TYPE_CHECKING = False  # as in rookery
if TYPE_CHECKING:
    from rookery.core.json import image_bytes
else:
    __getattr__ = late_modules(__name__)

__all__ = ["Draft", "Event", "Json", "dumps", "kind_of", "loads", "notice"]
