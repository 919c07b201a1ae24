"""The shape gate: what review would otherwise have to say again about every change."""

import ast
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rookery.core.header import EMPTY

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "rookery").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TOOLS = sorted((ROOT / "tools").rglob("*.py"))

FILE_LINES = 600
MEDIAN_LINES = 160
FUNCTION_LINES = 60
WORKER_DATACLASSES = 80

VAGUE_NAMES = {
    *("utils", "helpers", "common", "base"),
    *("manager", "service", "controller", "handler", "factory"),
}
EMPTY_NAMES = {
    **dict.fromkeys(("found", "Found", "MOST", "LONGEST", "PATIENCE", "Wanted", "Told", "Said"), 0),
    **dict.fromkeys(("_found", "_words", "_said", "_told"), 0),
    "words": 18,
    "said": 5,
    "told": 5,
}
"""Names that say nothing of what they hold, and how often src has them: as JSON keys, as fields of
the API, and of a module. The numbers only fall."""
NO_VERB = {"Of", "With", "As", "By", "What"}
"""Words that begin no sentence."""
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MOCKS = {"mock", "pytest_mock", "unittest.mock"}
HEAVY = ["click", "fastapi", "openhands", "pydantic", "textual", "websockets"]

# The boundaries that may catch everything: file -> (how many, why).
CATCH_ALL: dict[str, tuple[int, str]] = {
    "tests/safety/probe.py": (1, "whatever came of a try is told"),
    "tests/daemon/intruder.py": (1, "whatever came of a try is told"),
    "tests/sandbox/prisoner/__main__.py": (1, "whatever came of a way is told"),
    "tests/rigs/hatchery.py": (1, "a traceback is printed as the interpreter would"),
    "src/rookery/agent/translate/translator.py": (1, "an event that cannot be told is shown raw"),
    "src/rookery/agent/server.py": (1, "a foreign library's bug ends one request, not the agent"),
    "src/rookery/agent/mcp/connections.py": (1, "a foreign MCP server can fail in any way"),
    "src/rookery/agent/sdk_patches/llm.py": (2, "raised again, unless another model is asked"),
    "src/rookery/agent/session/goal.py": (1, "a judge that fails ends the goal alone"),
    "src/rookery/agent/session/critic.py": (1, "a critic that cannot be had is none"),
    "src/rookery/agent/warm/child.py": (
        1,
        "the end of a forked process: it is said, nothing else is left",
    ),
    "src/rookery/daemon/fleet.py": (1, "one session that cannot be looked at hides no other"),
    "src/rookery/daemon/process/connections.py": (1, "a bug ends one request, not the daemon"),
    "src/rookery/daemon/trouble.py": (1, "a round that fails is followed by another"),
    "src/rookery/cli/errors.py": (1, "a module that explains an error may be the damaged one"),
    "src/rookery/cli/app.py": (1, "the outermost: a person gets a sentence, a file the trace"),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Module(NamedTuple):
    path: Path
    tree: ast.Module
    nodes: list[ast.AST]
    lines: list[str]

    @property
    def name(self) -> str:
        return name_of(self.path)


type Rule = Callable[[Module], str]
"""What it has to say about a module; "": nothing."""

RULES: list[tuple[Rule, tuple[str, ...]]] = []
"""With the folders whose modules it is for."""


def rule(*folders: str) -> Callable[[Rule], Rule]:
    def add(checks: Rule) -> Rule:
        RULES.append((checks, folders))
        return checks

    return add


@cache
def complaints() -> dict[str, list[str]]:
    """By rule. Each module is parsed once for all of them."""
    found: dict[str, list[str]] = {checks.__name__: [] for checks, _ in RULES}
    for path in SOURCES + TESTS + TOOLS:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        module = Module(path, tree, list(ast.walk(tree)), text.splitlines())
        for checks, folders in RULES:
            if module.name.startswith(folders) and (said := checks(module)):
                found[checks.__name__].append(f"{module.name}: {said}")
    return found


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def last_name(node: ast.expr | None) -> str:
    """The last word of a dotted name, or of what is called: `c` for `a.b.c` and for `a.b.c()`."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
        case ast.Call(func=func):
            return last_name(func)
    return ""


def lines_of(nodes: Sequence[ast.AST]) -> str:
    return "line " + ", ".join(str(getattr(node, "lineno", 0)) for node in nodes)


def said(words: str, found: Sequence[ast.AST]) -> str:
    return f"{words}: {lines_of(found)}" if found else ""


# Size


@rule("src/")
def file_is_short(module: Module) -> str:
    lines = len(module.lines)
    return f"{lines} lines, at most {FILE_LINES}: split it by its nouns" * (lines > FILE_LINES)


def test_median_file_is_short() -> None:
    lengths = [line_count(path) for path in SOURCES if path.name != "__init__.py"]
    median = statistics.median(lengths)
    assert median <= MEDIAN_LINES, f"the median file has {median} lines, at most {MEDIAN_LINES}"


@rule("src/", "tests/", "tools/")
def functions_are_short(module: Module) -> str:
    functions = [node for node in module.nodes if isinstance(node, Function)]
    long = [node for node in functions if node.end_lineno - node.lineno >= FUNCTION_LINES]
    return said(f"over {FUNCTION_LINES} lines, take a step out of it", long)


# Names and words


@rule("src/", "tests/", "tools/")
def name_is_a_noun_of_the_domain(module: Module) -> str:
    parts = Path(module.name).with_suffix("").parts
    vague = VAGUE_NAMES & {word for part in parts for word in part.split("_")}
    return f"name it after what it holds, not {', '.join(vague)}" if vague else ""


def names_in(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.TypeVar(name=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.keyword(arg=str() as name):
                yield name


def test_names_say_what_they_hold() -> None:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES)
    now = Counter(name for tree in trees for name in names_in(list(ast.walk(tree))))
    more = [name for name, most in EMPTY_NAMES.items() if now[name] > most]
    assert not more, f"say what the value is (rows, argv, reply, …), not {', '.join(more)}"
    fewer = {name: now[name] for name, most in EMPTY_NAMES.items() if now[name] < most}
    assert not fewer, f"lower the numbers in EMPTY_NAMES: {fewer}"


@rule("src/")
def docstring_begins_a_sentence(module: Module) -> str:
    bad = [
        node
        for node in module.nodes
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and re.split(r"\W", ast.get_docstring(node) or "", maxsplit=1)[0] in NO_VERB
    ]
    return said("begin the docstring with a verb, or with what it is", bad)


@rule("src/", "tests/", "tools/")
def module_says_why_it_exists(module: Module) -> str:
    return "" if ast.get_docstring(module.tree) else "begin with a sentence that says why"


@rule("src/", "tests/", "tools/")
def nothing_is_left_for_later(module: Module) -> str:
    lines = enumerate(module.lines, start=1)
    left = [str(number) for number, line in lines if UNFINISHED.search(line)]
    return f"finish it, or write an issue: line {', '.join(left)}" if left else ""


# Errors and tasks


def catches_all(node: ast.AST) -> bool:
    match node:
        case ast.ExceptHandler(type=None):
            return True
        case ast.ExceptHandler(type=ast.Tuple(elts=caught)):
            pass
        case ast.ExceptHandler(type=one):
            caught = [one]
        case ast.Call(args=caught) if last_name(node.func) == "suppress":
            pass
        case _:
            return False
    return any(last_name(kind) in {"Exception", "BaseException"} for kind in caught)


@rule("src/", "tests/", "tools/")
def catching_everything_is_stated(module: Module) -> str:
    found = [node for node in module.nodes if catches_all(node)]
    stated, _ = CATCH_ALL.get(module.name, (0, ""))
    if len(found) == stated:
        return ""
    what = "catch the errors you mean, or state the boundary and its reason in CATCH_ALL"
    return f"CATCH_ALL states {stated}, found {len(found)} ({lines_of(found)}): {what}"


def test_stated_boundaries_exist() -> None:
    gone = CATCH_ALL.keys() - {name_of(path) for path in SOURCES + TESTS + TOOLS}
    assert not gone, f"CATCH_ALL names files that are gone: {', '.join(gone)}"


def task_groups(nodes: list[ast.AST]) -> set[str]:
    """The names that this module gives to task groups."""
    names = set()
    for node in nodes:
        match node:
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                pass
            case ast.Assign(value=value, targets=[target]):
                pass
            case ast.AnnAssign(annotation=value, target=target):
                pass
            case ast.arg(annotation=ast.expr() as value, arg=word):
                target = ast.Name(word)
            case _:
                continue
        if last_name(value) == "TaskGroup":
            names.add(last_name(target))
    return names


def dropped_tasks(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    groups = task_groups(nodes)
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call(func=func)):
                if last_name(func) not in {"create_task", "ensure_future"}:
                    continue
                owner = last_name(func.value) if isinstance(func, ast.Attribute) else ""
                if owner not in groups:
                    yield node


@rule("src/", "tests/", "tools/")
def tasks_are_kept(module: Module) -> str:
    return said("use a TaskGroup, or keep it and cancel it", list(dropped_tasks(module.nodes)))


# Purity


@rule("src/rookery/core/")
def core_touches_nothing_outside(module: Module) -> str:
    outside = {"open", "print", "input", "exec", "__import__"}
    found = [
        node
        for node in module.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in outside
    ]
    return said("core decides, the shell acts: return an effect", found)


CLOCKS = {"now", "utcnow", "today"}


@rule("src/rookery/core/")
def core_reads_no_clock(module: Module) -> str:
    """`datetime` calculates; only these methods of it look at the clock."""
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    found = [
        call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCKS
    ]
    return said("core is given the time", found)


PRIVATE_FIELDS = {field for field in EMPTY.raw if field.startswith("_")}
HEADERS = {"header", "before", "after", "now"}


HEADER = (ROOT / "src" / "rookery" / "core" / "header.py").read_text(encoding="utf-8")
PRIVATE_NAMES = set(re.findall(r"^    (\w+)(?:: .+)? = field\(\"_", HEADER, re.MULTILINE))


@rule("src/rookery/tui/", "src/rookery/cli/", "src/rookery/acp/", "src/rookery/client/")
def no_face_reads_the_memory_of_the_fold(module: Module) -> str:
    constants = [node for node in module.nodes if isinstance(node, ast.Constant)]
    found: list[ast.AST] = [node for node in constants if node.value in PRIVATE_FIELDS]
    read = [node for node in module.nodes if isinstance(node, ast.Attribute)]
    found += [
        node
        for node in read
        if node.attr in PRIVATE_NAMES
        and (
            (isinstance(node.value, ast.Name) and node.value.id in HEADERS)
            or (isinstance(node.value, ast.Attribute) and node.value.attr == "header")
        )
    ]
    return said("give core a function, or the header a public field", found)


TRANSPORTS = {"LocalRookery", "LocalSession", "RemoteRookery", "RemoteSession", "SessionClient"}
THE_DAEMON_ITSELF: dict[str, str] = {
    "src/rookery/cli/target.py": "it takes the address from the command line",
    "src/rookery/cli/commands/remote/api.py": "a request to a daemon, whichever it is",
    "src/rookery/cli/commands/remote/devices.py": "who may log in to a daemon",
    "src/rookery/cli/commands/remote/login.py": "the login on a daemon is kept here",
    "src/rookery/cli/commands/remote/logout.py": "the login on a daemon is kept here",
}
"""Files about a daemon's address. What they may import beside it, pyproject.toml says."""


@rule(*(f"src/rookery/{each}/" for each in ("cli", "tui", "acp", "daemon/page", "daemon/pieces")))
def no_face_asks_how_a_rookery_is_reached(module: Module) -> str:
    found = []
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Name("isinstance"), args=[_, kinds]):
                names = {last_name(each) for each in ast.walk(kinds) if isinstance(each, ast.expr)}
                found += [node] if names & {*TRANSPORTS, "Rookery", "Session"} else []
            case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="rookery")), attr=attribute):
                found += [node] if attribute in {"door", "home", "url"} else []
            case ast.Call(func=ast.Attribute(ast.Name("target" | "place"), "url")):
                found += [node] if reads_the_target(module) else []
    return said("ask the Rookery itself: its interface is the same wherever it is", found)


def reads_the_target(module: Module) -> bool:
    """Whether it asks the command line for a daemon's address, which only a few may."""
    known = any("rookery.cli.target" in imported(node) for node in module.nodes)
    return known and module.name not in THE_DAEMON_ITSELF


@rule("tests/core/", "tests/log/")
def no_test_sleeps(module: Module) -> str:
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    found = [node for node in calls if last_name(node) == "sleep"]
    return said("pass the time in, or wait for the thing itself", found)


def imported(node: ast.AST) -> set[str]:
    match node:
        case ast.Import(names=names):
            return {alias.name for alias in names}
        case ast.ImportFrom(module=str() as module, names=names):
            return {module} | {f"{module}.{alias.name}" for alias in names}
    return set()


@rule("tests/")
def no_test_mocks(module: Module) -> str:
    found = [node for node in module.nodes if imported(node) & MOCKS]
    return said("run the real thing, or pass a small one in", found)


# All of them


@pytest.mark.parametrize("name", [checks.__name__ for checks, _ in RULES])
def test_every_module_keeps_the_rule(name: str) -> None:
    assert not complaints()[name], "\n".join(complaints()[name])


# The map


def test_the_map_names_every_folder() -> None:
    page = (ROOT / "docs" / "contributing" / "folders.md").read_text(encoding="utf-8")
    root = ROOT / "src" / "rookery"
    folders = {path.parent.relative_to(root).as_posix() for path in SOURCES} - {"."}
    listed = set(re.findall(r"^\| `([a-z_/]+)/` \|", page, re.MULTILINE))
    assert listed == folders - {"acp"}  # which has nothing of its own


# Start-up


def after(code: str, question: str) -> object:
    """Run code in a fresh Python, then answer a question about what it left behind."""
    script = f"import json, sys\n{code}\nprint('\\n' + json.dumps({question}))"
    run = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_worker_loads_nothing_heavy() -> None:
    loaded = after("import rookery.worker.host", f"[m for m in {HEAVY} if m in sys.modules]")
    assert loaded == [], f"a worker is the standard library and ours: import {loaded} elsewhere"


def test_worker_has_few_dataclasses() -> None:
    made_here = (
        "[f'{name}.{thing.__name__}' for name, module in list(sys.modules.items())"
        " if name.split('.')[0] == 'rookery' for thing in vars(module).values()"
        " if isinstance(thing, type) and thing.__module__ == name"
        " and '__dataclass_fields__' in vars(thing)]"
    )
    found = after("import rookery.worker.host", made_here)
    assert len(found) <= WORKER_DATACLASSES, (
        f"{len(found)} dataclasses, at most {WORKER_DATACLASSES}, each costs a worker's start: "
        f"make some NamedTuples or plain classes: {found}"
    )


def test_version_answers_before_the_cli_library() -> None:
    ask = (
        "from rookery.cli import main\n"
        "sys.argv = ['rookery', '--version']\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code"
    )
    slow = "[m for m in ('click', 'importlib.metadata', 'websockets') if m in sys.modules]"
    assert after(ask, slow) == [], "answer --version from the literal, before any other import"


def test_no_page_has_marks_of_a_merge() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]
    assert len(pages) > 20
    found = [
        page.name for page in pages if re.search(r"(?m)^(<{7}|>{7}) ", page.read_text("utf-8"))
    ]
    assert not found, f"left of a merge: {', '.join(found)}"


def test_no_foreign_package_is_kept() -> None:
    """What a tool downloads into the tree is not to be committed with it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name]
    assert names, "git lists nothing"
    foreign = [name for name in names if name.endswith((".whl", ".tar.gz", ".zip", ".min.js"))]
    assert not foreign
