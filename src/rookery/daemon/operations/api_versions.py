"""Version 1 of the API at /api/v1: operations, and every other route under its name from before
there were versions. The unversioned routes keep working."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import Any, NamedTuple

from starlette.routing import BaseRoute, Route, WebSocketRoute

from rookery.core.json import Json
from rookery.daemon.operations.api import method_of
from rookery.operations.catalogue.finding import find

V1, BEFORE = "/api/v1/", "/api/"
UNVERSIONED = ("/api/docs", "/api/openapi.json")
OPERATION = re.compile(r"/api/v1/(?P<on>sessions/[^/]+/)?(?P<name>[^/]+)")

type Scope = MutableMapping[str, Any]
type App = Callable[[Scope, Any, Any], Awaitable[None]]


class _Address(NamedTuple):
    methods: frozenset[str]
    path: str
    pattern: re.Pattern[str]

    def takes(self, method: str, path: str) -> bool:
        return method in self.methods and self.pattern.match(path) is not None


class Versions:
    """Middleware that maps a request to /api/v1 to the unversioned path, before anything checks who
    may send it."""

    def __init__(self, app: App, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        known = [each for each in _addresses(routes) if each.path.startswith(BEFORE)]
        self._own = [each for each in known if each.path.startswith(V1) and "{op" not in each.path]
        self._earlier = [each for each in known if not each.path.startswith((V1, *UNVERSIONED))]

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan" and scope["path"].startswith(V1):
            scope = self._by_earlier_name(scope)
        await self._app(scope, receive, send)

    def _by_earlier_name(self, scope: Scope) -> Scope:
        method, path = str(scope.get("method", "")), str(scope["path"])
        earlier = BEFORE + path.removeprefix(V1)
        if any(each.takes(method, path) for each in self._own) or _is_operation(method, path):
            return scope
        if not any(each.pattern.match(earlier) for each in self._earlier):
            return scope
        raw = scope["raw_path"].replace(V1.encode(), BEFORE.encode(), 1)
        return {**scope, "path": earlier, "raw_path": raw}


def _is_operation(method: str, path: str) -> bool:
    named = OPERATION.fullmatch(path)
    row = find(named["name"]) if named else None
    return (
        row is not None
        and row.on_session is bool(named and named["on"])
        and (method == method_of(row))
    )


def _addresses(routes: Iterable[BaseRoute]) -> Iterator[_Address]:
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            yield from _addresses(included.routes)
        elif isinstance(route, Route):
            yield _Address(frozenset(route.methods or ()), route.path, route.path_regex)
        elif isinstance(route, WebSocketRoute):
            yield _Address(frozenset({""}), route.path, route.path_regex)


def documented(document: Json) -> None:
    """Rename all paths of the document to those of version 1."""
    paths: Json = {}
    for path, methods in document["paths"].items():
        plain = path.startswith((V1, *UNVERSIONED)) or not path.startswith(BEFORE)
        name = path if plain else V1 + path.removeprefix(BEFORE)
        for method, operation in methods.items():
            known = paths.setdefault(name, {})
            if plain:
                known[method] = operation
            else:
                known.setdefault(method, operation)
    document["paths"] = paths
