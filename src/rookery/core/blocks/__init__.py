"""The blocks that every face paints: asks, tool calls, endings, notices."""

from rookery.core.blocks.document import Block, Document, Op, make_block

__all__ = ["Block", "Document", "Op", "make_block"]
