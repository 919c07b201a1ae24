"""The windows that open over the screen: settings, forms, lists, help."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.windows import (
        agent,
        choice,
        confirm,
        hub,
        key_help,
        model,
        picture,
        search,
        search_all,
        server,
        whole,
    )
else:
    __getattr__ = late_modules(__name__)
