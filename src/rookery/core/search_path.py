"""Cleaning the paths on which programs and modules are looked up. An entry that is not absolute
means the working directory, whose files may be anybody's."""

SEPARATOR = ":"
USUAL = "/usr/local/bin:/usr/bin:/bin"


def absolute(path: str) -> str:
    """Return the path without entries that depend on the working directory."""
    return SEPARATOR.join(each for each in path.split(SEPARATOR) if each.startswith("/"))


def for_programs(path: str) -> str:
    """Return the same, but a usual path instead of an empty one, which would mean the working
    directory."""
    return absolute(path) or USUAL
