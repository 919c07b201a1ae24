"""The blocks that every face renders: asks, tool calls, endings, notices."""

from rookery import TYPE_CHECKING, late_modules
from rookery.core.blocks.document import Block, Document, Op, make_block

if TYPE_CHECKING:
    from rookery.core.blocks import ask_details, asks, captions, failures
else:
    __getattr__ = late_modules(__name__)

__all__ = ["Block", "Document", "Op", "make_block"]
