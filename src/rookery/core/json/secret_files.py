"""Recognising files that hold secrets, by their names: hidden whole, or without values."""

import re

from rookery.core.json.secrets import MASK

_KEYS = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate)|"
    r"[._]netrc|\.pgpass|\.htpasswd|\.git-credentials|\.dockercfg|\.dockerconfigjson|kubeconfig|"
    r"credentials(?:\.json)?|service-account.*\.json",
    re.IGNORECASE,
)
_VALUES = re.compile(
    r"\.env(?:rc)?(?:[.~](?!(?:example|sample|template|dist|defaults?)$).*)?|.+\.env|"
    r"\.(?:npmrc|pypirc|yarnrc|my\.cnf)|.+\.tfvars|secrets?\.(?:ya?ml|json|toml|ini|properties)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"(\s*#?\s*(?:export\s+)?[\w.-]+\s*[=:]\s*)(.*)")
_SIDES = re.compile(r'"? "?b/')


def is_key(path: str) -> bool:
    """Whether nothing of the file is shown."""
    return bool(_KEYS.fullmatch(path.rpartition("/")[2]))


def hides_values(path: str) -> bool:
    """Whether the file holds settings whose values are not shown."""
    return bool(_VALUES.fullmatch(path.rpartition("/")[2]))


def without_value(row: str) -> str:
    """Return a line of such a file with nothing but the name in it."""
    match = _ASSIGNED.fullmatch(row)
    if match is None:
        return MASK if row.strip() else ""
    return match[1] + (MASK if match[2].strip() else "")


def line_without_value(line: str) -> str:
    """Return a line of a hunk without its value, with its sign."""
    return line[0] + without_value(line[1:]) if line.startswith(("+", "-", " ")) else line


def patch_without_values(patch: str) -> str:
    """Return a patch by git with the values in such files masked."""
    lines, hides, in_hunk = list[str](), False, False
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            hides, in_hunk = any(map(hides_values, _SIDES.split(line.rstrip('"')))), False
        elif line.startswith("@@ "):
            in_hunk = True
            # Behind the numbers stands a line of the file.
            line = line[: line.find(" @@") + 3] if hides else line  # noqa: PLW2901
        elif hides and in_hunk:
            line = line_without_value(line)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)
