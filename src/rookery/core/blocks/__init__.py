"""The blocks that every face renders: asks, tool calls, endings, notices."""

from rookery import late_modules
from rookery.core.blocks.document import Block, Document, Op, make_block

TYPE_CHECKING = False  # as in rookery
if TYPE_CHECKING:
    from rookery.core.blocks import ask_details, asks, captions, failures
else:
    __getattr__ = late_modules(__name__)

__all__ = ["Block", "Document", "Op", "make_block"]
