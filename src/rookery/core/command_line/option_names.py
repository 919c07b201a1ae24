"""Recognising options that write files or run programs by their names alone: no table has every
program, and `--output-file`, `--junit-xml` or `--init-hook` mean the same everywhere."""

import re
from functools import lru_cache

from rookery.core.command_line.syntax import listed

_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_HARMLESS_FIRST = listed(
    "no not without skip disable exclude ignore include list show print check dry diff only allow "
    "describe"
)
_HARMLESS_PARTS = listed("indicator dry")
_HARMLESS_LAST = listed(
    "format level fields width style encoding type limit size count mode only lines unit order "
    "sort color colour version verbosity timeout depth delimiter separator sync failure show plan "
    "name names columns threshold provider"
)
_ANYWHERE = listed(
    "out output junit xunit junitxml export save dump write overwrite fix fixes exec execute eval "
    "plugin plugins hook hooks preload require loader bootstrap wrapper processor renderer pager "
    "editor browser interpreter executable javaagent tee pastebin upload setup noqa postprocess"
)
_LAST = listed(
    "file dir directory path log report reports html xml trace config conf settings ini script "
    "scripts command cmd shell load prefix root location destination dest snapshot snapshots init "
    "agent callback formatter"
)
_ENDS = ("file", "dir", "profile", "log", "outputdir", "snapshot", "jar", "config", "fix")
_WHOLE = frozenset({"profile", "dialog", "changelog", "suffix", "postfix"})
"""Names that only end like those."""
_SHORT = re.compile(r"-[A-Za-z]{0,2}[oO]|-[oO][^=]+")

_HARMLESS = {
    **dict.fromkeys(("kubectl", "oc", "k", "helm", "az", "journalctl", "systemctl"), ("--output",)),
    **dict.fromkeys(("terraform", "tofu"), ("-var-file", "--var-file")),
    **dict.fromkeys(
        ("tar", "gtar", "bsdtar", "grep", "egrep", "fgrep", "docker", "podman", "rg"), ("--file",)
    ),
    "aws": ("--output",),
    "pytest": ("--cov-report", "--report-log-exclude"),
    "jq": ("--from-file", "--rawfile", "--slurpfile", "--argfile"),
    "tsc": ("--rootDir",),
    "ctest": ("--output-on-failure",),
    "bazel": ("--test_output",),
}
"""Options that only look like it."""
_READS_O = listed(
    "grep egrep fgrep rg zgrep ag ack ls ps id kubectl oc k helm az find pgrep pkill lsof ss "
    "netstat top htop mount lsblk findmnt column journalctl systemctl fd fdfind uname ip make "
    "gmake shellcheck tar gtar set shopt test [ git who stat nl jq aws gcloud docker podman ssh "
    "pytest python python3 mvn gh yq"
)
"""Programs whose `-o` and `-O` are no file, or stand in a table."""

_TABLED = frozenset({"find", "gfind"})
"""Programs of which the table has all."""


def is_telling(program: str, text: str, *, single: bool = False) -> bool:
    """Whether an option may write or run something. `single`: long options have one dash."""
    if program in _TABLED:
        return False
    if text.startswith("--") or (single and len(text) > 2):
        name = text.partition("=")[0]
        return name not in _HARMLESS.get(program, ()) and _is_name(name.lstrip("-"))
    return not single and program not in _READS_O and bool(_SHORT.fullmatch(text))


@lru_cache(maxsize=512)
def _is_name(name: str) -> bool:
    parts = [part.lower() for part in _PARTS.findall(name)]
    if not parts or parts[0] in _HARMLESS_FIRST:
        return False
    if parts[0] == "fix":
        return "dry" not in parts
    if parts[-1] in _HARMLESS_LAST:
        return False
    if _HARMLESS_PARTS.intersection(parts):
        return False
    if _ANYWHERE.intersection(parts) or parts[-1] in _LAST or parts[:2] == ["in", "place"]:
        return True
    if parts[0] == "coverage" and parts[1:]:
        return True
    ends = parts[-1].endswith(_ENDS) and parts[-1] not in _WHOLE
    return ends or parts[0].startswith(("output", "outfile", "junit", "xunit", "inplace"))
