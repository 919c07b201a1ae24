"""The rules by which real providers refuse requests: those of four APIs for the history in a
request.

Each checker raises `Broken` for the first rule that the history breaks:

- every call has exactly one result, right after it, and there is no result without its call - ids
are unique and legal, names of tools match `NAME`, arguments are an object - no message of the
model's is empty, and Anthropic takes no blank text at all - a reasoning item of the Responses API
is followed by the item that it led to"""

import json
import re
from collections.abc import Iterable, Iterator

from rookery.agent.scripted.conversation import Json, objects

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")


class Broken(Exception):
    """A rule is broken; the message says which and where."""


def chat(messages: list[Json]) -> None:
    """Check a history of chat completions. Raises Broken."""
    known = set[str]()
    open_calls = list[str]()
    for at, message in enumerate(messages):
        place = f"messages[{at}]"
        if message.get("role") == "tool":
            _close(open_calls, str(message.get("tool_call_id")), place)
            continue
        _all_closed(open_calls, place)
        if message.get("role") != "assistant":
            continue
        calls = objects(message.get("tool_calls"))
        if not calls and not _texts(message.get("content")):
            raise Broken(f"{place}: an assistant message must have content or tool calls")
        for call in calls:
            function = call.get("function") or {}
            _check_name(function.get("name"), place)
            _check_arguments(function.get("arguments"), place)
            open_calls.append(_new(known, call.get("id"), place))
    _all_closed(open_calls, "the end")


def responses(items: list[Json]) -> None:
    """Check a history of the Responses API. Raises Broken."""
    known, item_ids = set[str](), set[str]()
    open_calls = list[str]()
    for at, item in enumerate(items):
        place = f"input[{at}]"
        following = items[at + 1] if at + 1 < len(items) else {}
        match item.get("type", "message"):
            case "reasoning":
                if following.get("type") != "function_call" and not _is_models(following):
                    raise Broken(
                        f"Item '{item.get('id')}' of type 'reasoning' was provided without its "
                        f"required following item."
                    )
            case "function_call":
                _check_name(item.get("name"), place)
                _check_arguments(item.get("arguments"), place)
                open_calls.append(_new(known, item.get("call_id"), place))
            case "function_call_output":
                _close(open_calls, str(item.get("call_id")), place)
            case _:
                _all_closed(open_calls, place, but=_is_models(item))
                if _is_models(item) and not _texts(item.get("content")):
                    raise Broken(f"{place}: an empty message of the assistant's")
        if item.get("id") and item.get("type") in ("reasoning", "function_call"):
            _new(item_ids, item.get("id"), place)
    _all_closed(open_calls, "the end")


def _is_models(item: Json) -> bool:
    return item.get("role") == "assistant" and item.get("type", "message") == "message"


def anthropic(messages: list[Json]) -> None:
    """Check a history of Anthropic's API. Raises Broken."""
    known = set[str]()
    open_calls = list[str]()
    for at, message in enumerate(messages):
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        place = f"messages.{at}"
        if not objects(blocks):
            raise Broken(f"{place}: all messages must have non-empty content")
        models = message.get("role") == "assistant"
        if models:
            _all_closed(open_calls, place)
        for number, block in enumerate(objects(blocks)):
            where = f"{place}.content.{number}"
            match block.get("type"):
                case "text" if not str(block.get("text")).strip():
                    raise Broken(f"{where}: text content blocks must contain non-whitespace text")
                case "tool_use":
                    _check_name(block.get("name"), where)
                    if not isinstance(block.get("input"), dict):
                        raise Broken(f"{where}.input: Input should be a valid dictionary")
                    open_calls.append(_new(known, block.get("id"), where))
                case "tool_result":
                    _close(open_calls, str(block.get("tool_use_id")), where)
                case "text" if not models:
                    _all_closed(open_calls, where)
        if not models:
            _all_closed(open_calls, place)
    _all_closed(open_calls, "the end")


def gemini(contents: list[Json]) -> None:
    """Check a history of Gemini's API, counting calls, which have no ids. Raises Broken."""
    awaited = 0
    for at, content in enumerate(contents):
        place = f"contents[{at}]"
        parts = objects(content.get("parts"))
        if not parts:
            raise Broken(f"{place}.parts must not be empty.")
        answers = list(_named(parts, "functionResponse", "function_response"))
        calls = list(_named(parts, "functionCall", "function_call"))
        if len(answers) != awaited:
            raise Broken(
                "Please ensure that the number of function response parts is equal to the number "
                f"of function call parts of the function call turn ({place})."
            )
        if calls and (at == 0 or contents[at - 1].get("role") == "model"):
            raise Broken(
                "Please ensure that function call turn comes immediately after a user turn or "
                f"after a function response turn ({place})."
            )
        for part in parts:
            if not set(part) - {"thought", "thoughtSignature"} or part.get("text") == "":
                raise Broken(f"{place}.parts: required oneof field 'data' must have one field")
        for call in calls:
            _check_name(call.get("name"), place)
            if not isinstance(call.get("args", {}), dict):
                raise Broken(f"{place}: args must be an object")
        for answer in answers:
            _check_name(answer.get("name"), place)
            if not isinstance(answer.get("response"), dict):
                raise Broken(f"{place}: response must be an object")
        awaited = len(calls)
    if awaited:
        raise Broken("The last call has no response.")


def _named(parts: Iterable[Json], *names: str) -> Iterator[Json]:
    for part in parts:
        for name in names:
            if isinstance(part.get(name), dict):
                yield part[name]


# ---------------------------------------------------------------- rules


def _new(known: set[str], id: object, place: str) -> str:
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise Broken(f"{place}: id {id!r} should match pattern '^{ID.pattern}$'")
    if id in known:
        raise Broken(f"{place}: ids must be unique: {id}")
    known.add(id)
    return id


def _close(open_calls: list[str], id: str, place: str) -> None:
    if id not in open_calls:
        raise Broken(f"{place}: a result without its call, or a second one: {id}")
    open_calls.remove(id)


def _all_closed(open_calls: list[str], place: str, *, but: bool = False) -> None:
    if open_calls and not but:
        raise Broken(f"{place}: calls without a result before it: {', '.join(open_calls)}")


def _check_name(name: object, place: str) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Broken(f"{place}: name {name!r} should match pattern '^{NAME.pattern}$'")


def _check_arguments(arguments: object, place: str) -> None:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Broken(f"{place}: arguments must be a JSON string of an object: {arguments!r}")


def _texts(content: object) -> bool:
    """Tell whether the content has any text."""
    if isinstance(content, str):
        return bool(content.strip())
    return any(str(block.get("text", "x")).strip() for block in objects(content))
