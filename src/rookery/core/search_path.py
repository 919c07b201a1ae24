"""Paths on which programs and modules are looked for. An entry that is not absolute means the
working directory, whose files may be anybody's."""

SEPARATOR = ":"
USUAL = "/usr/local/bin:/usr/bin:/bin"


def absolute(path: str) -> str:
    """Without entries that depend on the working directory."""
    return SEPARATOR.join(each for each in path.split(SEPARATOR) if each.startswith("/"))


def for_programs(path: str) -> str:
    """The same; an empty one would mean the working directory."""
    return absolute(path) or USUAL
