"""Formatting durations, sizes, token counts and money for people: the same in every face."""

_LONGER = ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))


def duration(seconds: float) -> str:
    """Format seconds: `4.2 s`, `48 s`, `3 min 5 s`, `2 h`, `1 d 3 h`."""
    if seconds < 9.95:
        return f"{round(max(seconds, 0.0), 1):g} s"
    whole = round(seconds)
    for size, unit, part, smaller in _LONGER:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def size(count: float) -> str:
    """Format bytes, in steps of 1024: `12 B`, `1.5 MiB`, `120 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"


def tokens(count: float) -> str:
    """Format a token count: `950`, `12.3k`, `1.2M`."""
    if count < 1000:
        return f"{count:.0f}"
    return f"{count / 1000:.1f}k" if count < 999_500 else f"{count / 1e6:.1f}M"


def money(dollars: float) -> str:
    """Format dollars: `$0.42`, and below a cent `$0.0042`."""
    return f"${dollars:.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"
