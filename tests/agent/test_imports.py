"""The SDK's import without what a first turn does not need: what is put off comes when it is used,
and no turn uses it."""

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from rookery.agent.sdk_patches.imports import EXPORTS, MCP, NAMES, UNNEEDED
from rookery.agent.sdk_patches.imports.later import Finder
from tests.agent.conftest import surroundings

TURN = """
import json, sys
from rookery.agent.warm import heat
heat.up(sys.argv[1], mcp=False)
from openhands.sdk import AgentBase
from openhands.sdk.tool import ToolDefinition
loaded = [name for name in sys.argv[2:] if name in sys.modules]
kinds = [ToolDefinition.resolve_kind("MCPToolDefinition"), AgentBase.resolve_kind("ACPAgent")]
print(json.dumps([loaded, [kind.__module__ for kind in kinds]]))
"""


def test_cold_a_turn_loads_nothing_of_what_is_put_off(agent_home: Path, tmp_path: Path) -> None:
    """A command and an edit. Where the SDK begins to need one of these, its row goes. A stored
    conversation's tools of MCP servers are known all the same."""
    argv = [sys.executable, "-P", "-c", TURN, str(tmp_path / "heat"), *UNNEEDED]
    ran = subprocess.run(argv, env=surroundings(agent_home), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    loaded, kinds = json.loads(ran.stdout.splitlines()[-1])
    assert loaded == []
    assert kinds == ["openhands.sdk.mcp.tool", "openhands.sdk.agent.acp_agent"]


@pytest.mark.parametrize("module", NAMES)
def test_cold_a_row_names_what_the_module_still_imports(module: str) -> None:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    package = module if spec.submodule_search_locations else module.rpartition(".")[0]
    found = {f"{name}." for name in imported(Path(spec.origin), package)}
    unused = [name for name in NAMES[module] if not any(f.startswith(f"{name}.") for f in found)]
    assert unused == [] or (NAMES[module] == MCP and unused != list(MCP))


def imported(file: Path, package: str) -> Iterator[str]:
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            yield importlib.util.resolve_name(f"{dots}{node.module or ''}", package)


def test_cold_a_package_that_is_asked_later_has_no_code_of_its_own() -> None:
    """It would miss the names that were taken out of it."""
    for package in EXPORTS:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        body = ast.parse(Path(spec.origin).read_text()).body
        code = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert [node.name for node in code if node.name != "__getattr__"] == [], package


# ---------------------------------------------------------------- stand-ins


@pytest.fixture
def plumage(tmp_path: Path) -> Iterator[Path]:
    """A package whose wings are heavy."""
    files = {
        "__init__.py": "from .wings import Wing as Wing, flap\nfrom .nest import *\nSIZE = 3\n",
        "nest.py": "EGGS = 2\n",
        "wings.py": (
            "from pydantic import BaseModel\n"
            "class Wing(BaseModel):\n    span: int = 1\n"
            "def flap(n):\n    return 'flap' * n\n"
        ),
        "bird.py": (
            "import plumage.wings\n"
            "from plumage.wings import Wing, flap\n"
            "def is_wing(x: plumage.wings.Wing | None):\n    return isinstance(x, Wing)\n"
        ),
    }
    (tmp_path / "plumage").mkdir()
    for name, text in files.items():
        (tmp_path / "plumage" / name).write_text(text)
    finder = Finder({"plumage.bird": ("plumage.wings",)}, lambda name: name == "plumage")
    sys.path.insert(0, str(tmp_path))
    sys.meta_path.insert(0, finder)
    yield tmp_path
    sys.meta_path.remove(finder)
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "plumage"]:
        del sys.modules[name]


WINGS = "plumage.wings"


def bird() -> object:
    return importlib.import_module("plumage.bird")


@pytest.mark.usefixtures("plumage")
class TestStandIns:
    def test_nothing_is_an_instance_of_what_is_not_loaded(self) -> None:
        found = vars(bird())
        assert not found["is_wing"](1)
        assert not issubclass(int, found["Wing"])
        assert WINGS not in sys.modules

    def test_a_call_loads_it(self) -> None:
        assert vars(bird())["flap"](2) == "flapflap"

    def test_an_instance_is_one_of_the_real_class(self) -> None:
        found = vars(bird())
        wing = found["Wing"](span=4)
        assert type(wing) is sys.modules[WINGS].Wing
        assert found["is_wing"](wing)

    def test_a_subclass_is_one_of_the_real_class(self) -> None:
        class Small(vars(bird())["Wing"]):  # type: ignore[misc]
            feathers: int = 7

        assert Small().model_dump() == {"span": 1, "feathers": 7}
        assert issubclass(Small, sys.modules[WINGS].Wing)

    def test_a_schema_is_that_of_the_real_class(self) -> None:
        wing = vars(bird())["Wing"]
        model = type("Flyer", (BaseModel,), {"__annotations__": {"left": wing}})
        assert model.model_validate({"left": {"span": 2}}).left.span == 2

    def test_an_attribute_is_the_real_ones(self) -> None:
        assert list(vars(bird())["Wing"].model_fields) == ["span"]

    def test_a_package_finds_what_it_re_exports(self) -> None:
        package = importlib.import_module("plumage")
        assert (package.SIZE, package.EGGS) == (3, 2)
        assert WINGS not in sys.modules
        assert package.Wing is sys.modules[WINGS].Wing
        assert "Wing" in vars(package)
        with pytest.raises(AttributeError, match="tail"):
            _ = package.tail
