"""Tests a model with one call before it is saved: with the standard library for OpenAI's and
Anthropic's APIs, otherwise with litellm in another process. The key appears in no process's
arguments and in no message."""

import json
import re
import ssl
import subprocess
import sys
from collections.abc import Mapping
from http.client import HTTPException
from typing import Literal, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from rookery.core.json import Json
from rookery.models.profiles import Profile
from rookery.models.providers import api_of, is_loopback, provider_of
from rookery.models.secrets import Redactor

WITHIN = 60.0
"""Seconds for the answer."""

LARGEST = 4 * 1024 * 1024
QUESTION = "Answer with the one word: ready"
ANTHROPIC = "https://api.anthropic.com"

type Kind = Literal["ok", "auth", "model", "rate_limit", "network", "provider", "extra"]

MAX_MESSAGE_LENGTH = 300
"""Most characters of a provider's message that are shown."""


class Answer(NamedTuple):
    kind: Kind
    message: str

    @property
    def ok(self) -> bool:
        return self.kind == "ok"


def is_direct(model: Profile) -> bool:
    """Tell whether the standard library is enough: fast, and without the agent's packages."""
    return provider_of(model.model) == "anthropic" or bool(api_of(model.model, model.base_url))


def probe(model: Profile, within: float = WITHIN) -> Answer:
    answer = _direct(model, within) if is_direct(model) else _by_litellm(model, within)
    return Answer(answer.kind, Redactor([model.key]).text(answer.message))


def models_at(api: str, key: str, within: float = 5.0) -> list[str]:
    """Return the models that a server lists; none if it lists none."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        reply = _asked(f"{api.rstrip('/')}/models", None, headers, within)
    except (OSError, ValueError, HTTPException):
        return []
    data = reply.get("data")
    rows = data if isinstance(data, list) else []
    return [str(row["id"]) for row in rows if isinstance(row, dict) and row.get("id")]


# ---------------------------------------------------------------- by the standard library


def _direct(model: Profile, within: float) -> Answer:
    name, key = model.model.partition("/")[2] or model.model, model.key.reveal()
    if provider_of(model.model) == "anthropic":
        api = (model.base_url or ANTHROPIC).rstrip("/").removesuffix("/v1")
        url = f"{api}/v1/messages"
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        body: Json = {"max_tokens": 16}
    else:
        url = f"{api_of(model.model, model.base_url).rstrip('/')}/chat/completions"
        headers = {"authorization": f"Bearer {key}"}
        body = {}
    messages = [{"role": "user", "content": QUESTION}]
    where = urlsplit(url).netloc or url
    try:
        try:
            _asked(url, {"model": name, "messages": messages, **body}, headers, within)
        except _Refused as refused:
            status, message, _ = refused.args
            if status not in (400, 404) or "responses" not in message.lower():
                raise  # some models only work with the newer API
            newer = f"{url.removesuffix('/chat/completions')}/responses"
            _asked(newer, {"model": name, "input": QUESTION}, headers, within)
    except _Refused as refused:
        status, message, code = refused.args
        return of_status(status, message, code, name, where)
    except (OSError, HTTPException) as error:
        return of_network(_reason(getattr(error, "reason", error)), where)
    except ValueError as error:
        return Answer("provider", f"{url} sent an unexpected answer: {error}.")
    return Answer("ok", f"{model.model} answered.")


class _Refused(ValueError):
    """An error reply: its status, message and code."""


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects: a key is sent only to the server it is meant for."""

    def redirect_request(self, *_: object) -> None:
        return None


def _asked(url: str, body: Json | None, headers: Mapping[str, str], within: float) -> Json:
    """Send one request. Raises OSError (including URLError), HTTPException, ValueError (including
    _Refused)."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise URLError("the address must begin with http:// or https://")
    data = None if body is None else json.dumps(body).encode()
    request = Request(  # noqa: S310 - the scheme was checked
        url, data, {"content-type": "application/json", "user-agent": "rookery", **headers}
    )
    proxies = [ProxyHandler({})] if is_loopback(url) else []
    try:
        with build_opener(_NoRedirect, *proxies).open(request, timeout=within) as answer:
            value = json.loads(answer.read(LARGEST))
    except HTTPError as error:
        raise _Refused(error.code, *_error(error)) from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def _error(error: HTTPError) -> tuple[str, str]:
    """The message and the code in an error's body."""
    try:
        return _parsed(error.read(LARGEST).decode("utf-8", "replace"))
    except (OSError, HTTPException):
        return "", ""


def _parsed(text: str) -> tuple[str, str]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ("" if text.lstrip().startswith("<") else text), ""
    if isinstance(body, list) and body:  # Google's
        body = body[0]
    inner = body.get("error", body) if isinstance(body, dict) else {}
    if isinstance(inner, str):
        return inner, ""
    if not isinstance(inner, dict):
        return "", ""
    return str(inner.get("message") or inner.get("detail") or ""), str(inner.get("code") or "")


def _reason(error: object) -> str:
    match error:
        case TimeoutError():
            return "it did not answer in time"
        case ConnectionRefusedError():
            return "nothing is listening there"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted ({error.verify_message})"
        case OSError() if error.strerror:
            return error.strerror
    return str(error) or type(error).__name__


# ---------------------------------------------------------------- by litellm


def _by_litellm(model: Profile, within: float) -> Answer:
    """Test in a separate process: the library takes seconds and 200 MB to load."""
    asked = {
        "model": model.model,
        "api_key": model.key.reveal() or None,
        "base_url": model.base_url or None,
        "timeout": within,
        "extras": dict(model.extras),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "rookery.agent.probe"],
            cwd="/",
            input=json.dumps(asked).encode(),
            capture_output=True,
            check=False,
            timeout=within + 60,
        )
        reply = json.loads(done.stdout.splitlines()[-1])
        return Answer(reply["kind"], reply["words"])
    except subprocess.TimeoutExpired:
        return of_network("it did not answer in time", model.model)
    except (ValueError, IndexError, KeyError, TypeError):
        return Answer("provider", f"The test of {model.model} ended without an answer.")


# ---------------------------------------------------------------- its answer


def of_status(status: int, message: str, code: str, model: str, where: str) -> Answer:
    quote = f' It said: "{shortened(message)}"' if message.strip() else ""
    unknown = re.search(
        r"model\W+(\S+\W+)?(does not exist|not found|is not)|unknown model|no such model"
        r"|not a valid model|invalid model",
        message,
        re.IGNORECASE,
    )
    if status in (401, 403):
        return Answer("auth", f"{where} does not accept the key ({status}).{quote}")
    if code == "model_not_found" or (status in (400, 404, 422) and unknown):
        return Answer("model", f"{where} does not know the model {model!r}.{quote}")
    if status == 404:
        return Answer("model", f"There is no such API at {where}, or no model {model!r}.{quote}")
    if status == 402 or code == "insufficient_quota":
        return Answer("rate_limit", f"{where} refuses for billing reasons: check your plan.{quote}")
    if status == 429:
        return Answer("rate_limit", f"{where} is limiting your requests (429).{quote}")
    return Answer("provider", f"{where} answered with an error ({status}).{quote}")


def of_network(reason: str, where: str) -> Answer:
    return Answer("network", f"{where} cannot be reached: {shortened(reason)}.")


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE_LENGTH else line[: MAX_MESSAGE_LENGTH - 1] + "…"
