"""Files that hold secrets, by their names: of some nothing is shown, of others no value."""

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
    """Nothing of it is shown."""
    return bool(_KEYS.fullmatch(path.rpartition("/")[2]))


def hides_values(path: str) -> bool:
    """It holds settings, and what they are set to is nobody's business."""
    return bool(_VALUES.fullmatch(path.rpartition("/")[2]))


def without_value(row: str) -> str:
    """A line of such a file with nothing but the name in it."""
    found = _ASSIGNED.fullmatch(row)
    if found is None:
        return MASK if row.strip() else ""
    return found[1] + (MASK if found[2].strip() else "")


def line_without_value(line: str) -> str:
    """A line of a hunk, with its sign."""
    return line[0] + without_value(line[1:]) if line.startswith(("+", "-", " ")) else line


def patch_without_values(patch: str) -> str:
    """Of a patch by git, the lines of such files."""
    found, hides, in_hunk = list[str](), False, False
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            hides, in_hunk = any(map(hides_values, _SIDES.split(line.rstrip('"')))), False
        elif line.startswith("@@ "):
            in_hunk = True
            # Behind the numbers stands a line of the file.
            line = line[: line.find(" @@") + 3] if hides else line  # noqa: PLW2901
        elif hides and in_hunk:
            line = line_without_value(line)  # noqa: PLW2901
        found.append(line)
    return "\n".join(found)
