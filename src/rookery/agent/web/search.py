"""Searches the web with the provider that the user set (`web.search`)."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from rookery.agent.web import addresses
from rookery.agent.web.connection import Fetch, Response
from rookery.agent.web.failure import Failure
from rookery.core.json import lenient
from rookery.core.settings.web import BRAVE, SEARXNG, TAVILY, Web

MAX_RESULTS = 10
MAX_WORDS = 600
"""Characters that are told of each."""


class Request(NamedTuple):
    url: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None


class Result(NamedTuple):
    title: str
    url: str
    about: str


class Provider(NamedTuple):
    address: str
    request: Callable[[str, str, str], Request]
    """From the address, the key and the query."""
    results: Callable[[Any], list[Any]]
    about: str
    """The field with a result's text."""


def _brave(address: str, key: str, query: str) -> Request:
    asked = f"/res/v1/web/search?count={MAX_RESULTS}&q={quote_plus(query)}"
    return Request(address + asked, {"X-Subscription-Token": key})


def _tavily(address: str, key: str, query: str) -> Request:
    body = json.dumps({"query": query, "max_results": MAX_RESULTS}).encode()
    kind = {"Content-Type": "application/json"}
    return Request(f"{address}/search", {"Authorization": f"Bearer {key}", **kind}, body)


def _searxng(address: str, key: str, query: str) -> Request:  # noqa: ARG001 (it has none)
    return Request(f"{address}/search?format=json&q={quote_plus(query)}")


PROVIDERS = {
    BRAVE: Provider(
        "https://api.search.brave.com",
        _brave,
        lambda reply: lenient.sequence(lenient.mapping(reply, "web"), "results"),
        "description",
    ),
    TAVILY: Provider(
        "https://api.tavily.com",
        _tavily,
        lambda reply: lenient.sequence(reply, "results"),
        "content",
    ),
    SEARXNG: Provider(
        "",
        _searxng,
        lambda reply: lenient.sequence(reply, "results"),
        "content",
    ),
}


def search(fetch: Fetch, settings: Web, query: str) -> list[Result]:
    """Search and return the results. Raises Failure."""
    provider = PROVIDERS.get(settings.search)
    if provider is None or settings.lacking:
        raise Failure(settings.lacking or "No search provider is set (web.search).")
    address = (settings.search_url or provider.address).rstrip("/")
    request = provider.request(address, settings.search_key, query)
    target = addresses.parse(request.url)
    method = "GET" if request.body is None else "POST"
    response = fetch.send(target, method, request.body, dict(request.headers))
    if not isinstance(response, Response) or response.status != 200:
        status = (
            f"{response.status} {response.reason}"
            if isinstance(response, Response)
            else "a redirect"
        )
        raise Failure(f"The search provider ({settings.search}) answered with {status}.")
    try:
        rows = provider.results(json.loads(response.body))
    except (ValueError, RecursionError):
        raise Failure(
            f"The search provider ({settings.search}) did not answer with JSON. A SearXNG instance "
            "must allow it: search.formats in its settings.yml."
        ) from None
    results = [
        Result(*(lenient.text(row, name)[:MAX_WORDS] for name in ("title", "url", provider.about)))
        for row in rows[:MAX_RESULTS]
    ]
    return [each for each in results if each.url]
