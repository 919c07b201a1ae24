"""Imports names lazily: a module's `from … import …` yields stand-ins, and a package's re-exports
are resolved when they are asked for.

A stand-in is a class that loads the real thing as soon as it is called, subclassed, asked for an
attribute or put into a schema. `isinstance` loads nothing: if the real class was never loaded,
nothing is an instance of it."""

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

STAR = "*"


class Later(type):
    """The metaclass of stand-ins."""

    place: tuple[str, str]
    real: Any

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        """Build `class X(StandIn)` with the real class as its base."""
        real = tuple(real_of(base) if isinstance(base, Later) else base for base in bases)
        kind: Any = type(real[0])
        return kind(name, real, namespace)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return real_of(cls)(*arguments, **named)

    def __instancecheck__(cls, thing: object) -> bool:
        return cls.place[0] in sys.modules and isinstance(thing, real_of(cls))

    def __subclasscheck__(cls, kind: type) -> bool:
        return cls.place[0] in sys.modules and issubclass(kind, real_of(cls))

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # asked for by who looks what it is
        return getattr(real_of(cls), name)


def stand_in(module: str, name: str) -> Later:
    """Return a stand-in for that name of the module."""
    own = {
        "__module__": module,
        "place": (module, name),
        "real": None,
        "__get_pydantic_core_schema__": classmethod(_schema),
    }
    return type.__new__(Later, name, (), own)


def _schema(cls: Any, _source: Any, handler: Any) -> Any:
    return handler.generate_schema(real_of(cls))


def real_of(cls: Later) -> Any:
    if cls.real is None:
        cls.real = _load(*cls.place)
    return cls.real


def _load(module: str, name: str) -> Any:
    loaded = importlib.import_module(module)
    try:
        return getattr(loaded, name)
    except AttributeError:
        return importlib.import_module(f"{module}.{name}")


class _Names:
    """Stands in for a module from which others import names."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(self._module, name)


class _Root:
    """Stands in for `a` after `import a.b`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        whole = f"{self._name}.{name}"
        if name.startswith("__"):
            raise AttributeError(name)
        return _Names(whole)


type ModulePredicate = Callable[[str], bool]
"""Whether names of this module are to be stand-ins."""


class Loader(SourceFileLoader):
    """Runs a module's own code, with an `import` that yields stand-ins."""

    def __init__(self, name: str, path: str, wanted: ModulePredicate, *, exports: bool) -> None:
        super().__init__(name, path)
        self._wanted = wanted
        self._exports = exports

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert code is not None
        running = True

        def load(
            name: str,
            names: Mapping[str, Any] | None = None,
            local: Mapping[str, Any] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> Any:
            if running and names is not None and names.get("__name__") == module.__name__:
                whole = importlib.util.resolve_name("." * level + name, module.__package__)
                if self._wanted(whole) and STAR not in (fromlist or ()):
                    root, dot, _ = whole.partition(".")
                    return _Names(whole) if fromlist or not dot else _Root(root)
            return builtins.__import__(name, names, local, fromlist or (), level)

        given = vars(module)
        given["__builtins__"] = {**vars(builtins), "__import__": load}
        exec(code, given)  # noqa: S102 - as the import system does
        running = False
        if self._exports:
            _look_up_later(module)


def _look_up_later(module: ModuleType) -> None:
    """Remove a package's stand-ins, which only its importers use, and resolve them later."""
    given = vars(module)
    places = {name: value.place for name, value in list(given.items()) if isinstance(value, Later)}
    for name in places:
        del given[name]
    theirs = given.get("__getattr__")

    def look_up(name: str) -> Any:
        if name not in places:
            if theirs is not None:
                return theirs(name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        given[name] = real = _load(*places[name])
        return real

    given["__getattr__"] = look_up


class Finder(MetaPathFinder):
    """Finds the modules that are imported lazily. `names` maps a module to those whose names it
    imports later. `exports`: packages that re-export names of their submodules."""

    def __init__(self, names: Mapping[str, tuple[str, ...]], exports: ModulePredicate) -> None:
        self.names = names
        self.exports = exports

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        modules, exports = self.names.get(fullname), self.exports(fullname)
        later = tuple(f"{name}." for name in modules or ())
        if not later and not exports:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        if exports and not spec.submodule_search_locations:
            return None  # a module, whose imports it uses itself
        below = f"{fullname}."

        def wanted(module: str) -> bool:
            return f"{module}.".startswith(later) if later else module.startswith(below)

        spec.loader = Loader(fullname, spec.loader.path, wanted, exports=exports)
        return spec
