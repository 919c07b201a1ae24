"""The blocks that every face paints: asks, tool calls, endings, notices."""
