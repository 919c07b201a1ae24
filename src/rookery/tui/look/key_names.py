"""Keys as they are written on a keyboard."""

NO_KEY = "no_key"
"""Means none, for the library: no keyboard has it."""


def shown(keys: str) -> str:
    """`ctrl+b` as `Ctrl+B`; separated by commas."""
    return ", ".join(_key(key.split("+")) for key in keys.split(","))


def _key(words: list[str]) -> str:
    """A letter alone stays as it is; with a modifier it is a capital."""
    last = words[-1].upper() if len(words) > 1 else _word(words[-1])
    return "+".join(
        [*(_word(word) for word in words[:-1]), last if len(words[-1]) == 1 else _word(words[-1])]
    )


def _word(word: str) -> str:
    names = {"escape": "Esc", "down": "↓", "up": "↑", "left": "←", "right": "→", NO_KEY: "no key"}
    names |= {"pageup": "PageUp", "pagedown": "PageDown", "slash": "/", "question_mark": "?"}
    return names.get(word, word.capitalize() if len(word) > 1 else word)
