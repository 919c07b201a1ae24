"""What the transcript is made of: pieces of blocks, each with the lines that it takes."""

from textual.strip import Strip

from rookery.core.blocks.document import Block


class Item:
    """A block, a stretch of a long one, or a row of quiet calls that stand folded as one.

    `lines` is None until it has been seen at the present width; `height` is a guess until then.
    """

    __slots__ = (
        "before",
        "block",
        "depth",
        "gap",
        "height",
        "key",
        "lines",
        "members",
        "number",
        "ready",
        "terminals",
    )

    def __init__(self, block: Block, number: int = 0, depth: int = 0) -> None:
        self.block = block
        self.number = number
        """Which stretch of the block's text."""
        self.depth = depth
        self.key = f"{block['id']}#{number}"
        self.gap = 0
        """Empty lines above."""
        self.terminals: list[Block] = []
        self.members: list[Block] = []
        """Of a folded row: all its calls."""
        self.lines: list[Strip] | None = None
        self.ready: dict[int, tuple[object, Strip]] = {}
        """Lines as they go to the screen, each with what it depends on."""
        self.before: list[Strip] = []
        self.height = 1

    @property
    def name(self) -> str:
        """Of the block; a folded row has its first call's, with a sign."""
        return f"{self.block['id']}*" if self.members else str(self.block["id"])

    def forget(self) -> None:
        """What was painted is not true any more; its height stays as the best guess."""
        if self.lines is not None:
            self.before = self.lines
        self.lines = None

    def let_go(self) -> None:
        """It is far from what is read: its lines are made anew when it comes back."""
        self.lines, self.before = None, []
        self.ready.clear()

    def paint(self, lines: list[Strip]) -> None:
        """Lines that are as they were stay ready: of a text that grows, only the end is new."""
        for number, line in enumerate(lines):
            if number >= len(self.before) or self.before[number] != line:
                self.ready.pop(number, None)
        self.lines, self.before = lines, []
        self.height = len(lines)
