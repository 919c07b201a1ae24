"""The blocks that every face renders: asks, tool calls, endings, notices."""

from rookery.core.blocks.document import Block, Document, Op, make_block

__all__ = ["Block", "Document", "Op", "make_block"]
