"""Writes a summary of the forgotten events, followed by what is kept word for word: prompts that
were too long to stay whole, the last plan, and the files that were changed.

Each summary takes these sections over from the one before it, so they are written such that they
can be parsed again: no line of a section looks like a heading."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeGuard, override

from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent
from openhands.sdk.event.base import LLMConvertibleEvent
from openhands.sdk.event.condenser import Condensation, CondensationSummaryEvent
from openhands.sdk.llm import ImageContent, TextContent
from openhands.tools.task_tracker import TaskTrackerAction

from rookery.agent.translate import patches
from rookery.agent.translate.content import PREFACE, shortened

PROMPTS = "Prompts of the user, shortened:"
PLAN = "The plan, word for word:"
FILES = "Files changed so far:"
_HEADINGS = re.compile(f"^({'|'.join(map(re.escape, (PROMPTS, PLAN, FILES)))})$", re.MULTILINE)

MAX_FILES = 200
MAX_SHORTENED = 20
"""Prompts; older ones are in the summary alone."""
EXCERPT = 4_000
"""Characters of an event that the summary's writer reads, and the fewest that make sense."""
SHORTEST_EXCERPT = 200
LOOKS = ("view", "read", "list", "grep", "glob")
"""In the names of file tools, or of their commands, that change nothing."""


def is_prompt(event: object) -> TypeGuard[MessageEvent]:
    return isinstance(event, MessageEvent) and event.source == "user"


# --- for the model that writes it ----------------------------------------------------------------


class Excerpt(NamedTuple):
    """An event as the model that writes the summary reads it. The SDK's own text of an event is cut
    after 500 characters, even that of the previous summary."""

    id: str
    text: str

    @override
    def __str__(self) -> str:
        return self.text


def excerpts(events: Sequence[LLMConvertibleEvent], room: float) -> list[Excerpt]:
    """Return excerpts short enough for `room` characters in total. Summaries stay whole."""
    texts = [(event, _text(event)) for event in events]
    most = EXCERPT
    while most > SHORTEST_EXCERPT and sum(min(len(text), most) for _, text in texts) > room:
        most //= 2
    return [
        Excerpt(
            event.id,
            text if isinstance(event, CondensationSummaryEvent) else shortened(text, most),
        )
        for event, text in texts
    ]


def _text(event: LLMConvertibleEvent) -> str:
    message = event.to_llm_message()
    calls = (f"{call.name}: {call.arguments}" for call in message.tool_calls or ())
    return "\n".join([f"{message.role}:", *_parts(message.content), *calls])


def _parts(content: Iterable[object]) -> Iterator[str]:
    for part in content:
        if isinstance(part, TextContent):
            yield part.text
        elif isinstance(part, ImageContent):
            yield f"[images: {len(part.image_urls)}]"


# --- what is kept --------------------------------------------------------------------------------


class _Sections(NamedTuple):
    """A parsed summary."""

    text: str
    prompts: list[str]
    plan: str
    files: list[str]


def with_kept(
    made: Condensation,
    forgotten: Sequence[LLMConvertibleEvent],
    length_of: Callable[[str], int],
    *,
    after_prompts: bool,
) -> Condensation:
    """Return the summary, followed by what is kept of the forgotten events. `length_of`: how many
    characters of a prompt may stay, by its event's id."""
    plan, prompts, files = "", list[str](), dict[str, None]()
    done = {each.tool_call_id for each in forgotten if _worked(each)}
    for event in forgotten:
        if isinstance(event, CondensationSummaryEvent):
            before = _read(event.summary)
            plan = before.plan or plan
            prompts += before.prompts
            files |= dict.fromkeys(before.files)
        elif is_prompt(event):
            prompts.append(_quoted(event, length_of(event.id)))
        elif isinstance(event, ActionEvent) and event.tool_call_id in done:
            action = event.action
            if isinstance(action, TaskTrackerAction) and action.command == "plan":
                plan = "\n".join(_task(task) for task in action.task_list)
            for path in _changed(action):
                files.pop(path, None)
                files[path] = None
    text = _read(made.summary or "").text
    parts = [PREFACE + text if after_prompts else text]
    if prompts:
        parts.append(f"{PROMPTS}\n" + "\n\n".join(prompts[-MAX_SHORTENED:]))
    if plan:
        parts.append(f"{PLAN}\n{plan}")
    if files:
        parts.append("\n".join([FILES, *(f"- {path}" for path in list(files)[-MAX_FILES:])]))
    return made.model_copy(update={"summary": "\n\n".join(filter(None, parts))})


def _read(summary: str) -> _Sections:
    """Parse a summary, without kept sections that the model may have copied into its own part."""
    text, *rest = _HEADINGS.split(summary)
    sections = {heading: body.strip() for heading, body in zip(rest[::2], rest[1::2], strict=True)}
    prompts = re.split(r"\n{2,}", sections.get(PROMPTS, ""))
    files = sections.get(FILES, "").splitlines()
    return _Sections(
        text.strip().removeprefix(PREFACE.strip()).strip(),
        [prompt for prompt in prompts if prompt],
        sections.get(PLAN, ""),
        [line.removeprefix("- ") for line in files],
    )


def _quoted(event: MessageEvent, length: int) -> str:
    text = shortened("\n".join(_parts(event.llm_message.content)), length)
    return "\n".join(f"> {line}" for line in text.splitlines())


def _worked(event: Any) -> TypeGuard[ObservationEvent]:
    """Tell whether the event is a result that was neither rejected nor failed."""
    return isinstance(event, ObservationEvent) and not event.observation.is_error


def _task(task: Any) -> str:
    notes = f" ({task.notes})" if task.notes else ""
    return f"- [{task.status}] {task.title}{notes}".replace("\n", " ")


def _changed(action: Any) -> list[str]:
    """Return the files that an action changes."""
    if isinstance(patch := getattr(action, "patch", None), str):
        return patches.paths_in(patch)
    path = getattr(action, "path", None) or getattr(action, "file_path", None)
    command = str(getattr(action, "command", "") or type(action).__name__).lower()
    return [str(path)] if path and not any(look in command for look in LOOKS) else []
