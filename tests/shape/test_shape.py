"""The shape gate: what review would otherwise have to say again about every change."""

import ast
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "rookery").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FILE_LINES = 400
MEDIAN_LINES = 160
FUNCTION_LINES = 60
WORKER_DATACLASSES = 80

VAGUE_NAMES = {
    *("utils", "helpers", "common", "base"),
    *("manager", "service", "controller", "handler", "factory"),
}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MOCKS = {"mock", "pytest_mock", "unittest.mock"}
HEAVY = ["click", "fastapi", "openhands", "pydantic", "textual"]

# The boundaries that may catch everything: file -> (how many, why).
CATCH_ALL: dict[str, tuple[int, str]] = {
    "src/rookery/agent/translate/translator.py": (1, "an event that cannot be told is shown raw"),
    "src/rookery/agent/server.py": (1, "a foreign library's bug ends one request, not the agent"),
    "src/rookery/agent/steps.py": (1, "a foreign MCP server can fail in any way"),
    "src/rookery/agent/turn.py": (1, "a critic that cannot be had is none"),
    "src/rookery/agent/warm/child.py": (
        1,
        "the end of a forked process: it is said, nothing else is left",
    ),
    "src/rookery/cli/app.py": (1, "the outermost: a person gets a sentence, a file the trace"),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def under(*folders: str) -> list[Path]:
    return [path for path in SOURCES + TESTS if name_of(path).startswith(folders)]


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=name_of)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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


def places(path: Path, nodes: list[ast.AST]) -> str:
    return ", ".join(f"{name_of(path)}:{getattr(node, 'lineno', 0)}" for node in nodes)


# Size


@each(SOURCES)
def test_file_is_short(path: Path) -> None:
    lines = line_count(path)
    assert lines <= FILE_LINES, f"{lines} lines, at most {FILE_LINES}: split it by its nouns"


def test_median_file_is_short() -> None:
    lengths = [line_count(path) for path in SOURCES if path.name != "__init__.py"]
    median = statistics.median(lengths)
    assert median <= MEDIAN_LINES, f"the median file has {median} lines, at most {MEDIAN_LINES}"


@each(SOURCES + TESTS)
def test_functions_are_short(path: Path) -> None:
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, Function)]
    long = [node for node in functions if node.end_lineno - node.lineno >= FUNCTION_LINES]
    assert not long, f"over {FUNCTION_LINES} lines, take a step out of it: {places(path, long)}"


# Names and words


@each(SOURCES + TESTS)
def test_name_is_a_noun_of_the_domain(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    vague = VAGUE_NAMES & {word for part in parts for word in part.split("_")}
    assert not vague, f"{name_of(path)}: name it after what it holds, not {', '.join(vague)}"


@each(SOURCES + TESTS)
def test_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(parse(path)), f"{name_of(path)}: begin with a sentence that says why"


@each(SOURCES + TESTS)
def test_nothing_is_left_for_later(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    left = [f"{name_of(path)}:{number}" for number, line in lines if UNFINISHED.search(line)]
    assert not left, f"finish it, or write an issue: {', '.join(left)}"


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


@each(SOURCES + TESTS)
def test_catching_everything_is_stated(path: Path) -> None:
    found = [node for node in ast.walk(parse(path)) if catches_all(node)]
    stated, _ = CATCH_ALL.get(name_of(path), (0, ""))
    assert len(found) == stated, (
        f"CATCH_ALL states {stated}, found {len(found)} ({places(path, found)}): "
        "catch the errors you mean, or state the boundary and its reason in CATCH_ALL"
    )


def test_stated_boundaries_exist() -> None:
    gone = CATCH_ALL.keys() - {name_of(path) for path in SOURCES + TESTS}
    assert not gone, f"CATCH_ALL names files that are gone: {', '.join(gone)}"


def task_groups(tree: ast.AST) -> set[str]:
    """The names that this module gives to task groups."""
    names = set()
    for node in ast.walk(tree):
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


def dropped_tasks(tree: ast.AST) -> Iterator[ast.AST]:
    groups = task_groups(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Call(func=func)):
                if last_name(func) not in {"create_task", "ensure_future"}:
                    continue
                owner = last_name(func.value) if isinstance(func, ast.Attribute) else ""
                if owner not in groups:
                    yield node


@each(SOURCES + TESTS)
def test_tasks_are_kept(path: Path) -> None:
    dropped = list(dropped_tasks(parse(path)))
    assert not dropped, f"use a TaskGroup, or keep it and cancel it: {places(path, dropped)}"


# Purity


@each(under("src/rookery/core/"))
def test_core_touches_nothing_outside(path: Path) -> None:
    outside = {"open", "print", "input", "exec", "__import__"}
    found = [
        node
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in outside
    ]
    assert not found, f"core decides, the shell acts: return an effect: {places(path, found)}"


@each(under("tests/core/", "tests/log/"))
def test_tests_do_not_sleep(path: Path) -> None:
    tree = ast.walk(parse(path))
    found = [node for node in tree if isinstance(node, ast.Call) and last_name(node) == "sleep"]
    assert not found, f"pass the time in, or wait for the thing itself: {places(path, found)}"


def imported(node: ast.AST) -> set[str]:
    match node:
        case ast.Import(names=names):
            return {alias.name for alias in names}
        case ast.ImportFrom(module=str() as module, names=names):
            return {module} | {f"{module}.{alias.name}" for alias in names}
    return set()


@each(TESTS)
def test_tests_mock_nothing(path: Path) -> None:
    found = [node for node in ast.walk(parse(path)) if imported(node) & MOCKS]
    assert not found, f"run the real thing, or pass a small one in: {places(path, found)}"


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
    slow = "[m for m in ('click', 'importlib.metadata') if m in sys.modules]"
    assert after(ask, slow) == [], "answer --version from the literal, before any other import"
