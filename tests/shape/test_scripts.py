"""The page's scripts: what each imports is there and is exported, nothing is left over, and no two
need each other."""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAEMON = ROOT / "src" / "rookery" / "daemon"
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in DAEMON.glob("assets/*.js")}

AT_ONCE = re.compile(r'^import (?:\{([^}]*)\} from )?"\./([\w.]+)";', re.MULTILINE)
ON_DEMAND = re.compile(r'import\("\./([\w.]+)"\)')
IMPORT = re.compile(r"^import\b|\bimport\(", re.MULTILINE)
NAMED = re.compile(r'"(\w+\.js)"')
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) ([\w$]+)", re.MULTILINE)


def imports_of(name: str) -> set[str]:
    text = SCRIPTS[name]
    return {file for _, file in AT_ONCE.findall(text)} | set(ON_DEMAND.findall(text))


@cache
def entries() -> set[str]:
    """Return the scripts that a document or a route names."""
    sources = [path.read_text(encoding="utf-8") for path in DAEMON.rglob("*.py")]
    return {name for text in sources for name in NAMED.findall(text)}


def test_imports_are_written_so_that_these_tests_see_them() -> None:
    for name, text in SCRIPTS.items():
        written = len(AT_ONCE.findall(text)) + len(ON_DEMAND.findall(text))
        assert len(IMPORT.findall(text)) == written, name


def test_every_script_that_is_imported_is_there() -> None:
    missing = {name: imports_of(name) - set(SCRIPTS) for name in SCRIPTS}
    assert not any(missing.values()), missing


def test_every_script_is_reached_from_a_page() -> None:
    reached, waiting = set[str](), list(entries())
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imports_of(name)
    assert reached == set(SCRIPTS)


def test_no_scripts_import_each_other() -> None:
    """Not on demand either. What two of them need belongs into the module of its noun; what has to
    reach up is announced with an event, or with `when`."""
    order = TopologicalSorter({name: imports_of(name) for name in SCRIPTS})
    order.prepare()  # CycleError has the circle


def test_every_name_that_is_imported_is_exported() -> None:
    missing = [
        f"{name}: {each} of {file}"
        for name, text in SCRIPTS.items()
        for names, file in AT_ONCE.findall(text)
        for each in names_in(names)
        if each not in EXPORT.findall(SCRIPTS[file])
    ]
    assert not missing


def test_every_export_is_used_elsewhere() -> None:
    unused = [
        f"{name}: {each}"
        for name, text in SCRIPTS.items()
        for each in EXPORT.findall(text)
        if not any(
            re.search(rf"(?<![\w$]){re.escape(each)}(?![\w$])", other)
            for file, other in SCRIPTS.items()
            if file != name
        )
    ]
    assert not unused


def names_in(names: str) -> list[str]:
    return [each.split(" as ")[0].strip() for each in names.split(",") if each]


def test_one_function_draws_the_rows_of_lists_to_choose_from() -> None:
    own = re.compile(r'\belement\("\w+", \{[^}]*(?:role: "option"|class: ["`]row\b)')
    assert not [name for name, text in SCRIPTS.items() if own.search(text)], "use `rowOf`"
