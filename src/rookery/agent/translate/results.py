"""The result of a tool call: its status, the content shown, and its raw output."""

from typing import Any, NamedTuple

from rookery.agent.provider.surrogates import whole
from rookery.agent.translate import content
from rookery.agent.translate.calls import Call
from rookery.core.json import Json

LONGEST_OUTPUT = 60_000
SHOWN_APART = {"content", "old_content", "new_content", "screenshot_data", "kind", "commit"}
"""Fields that the content shows already."""

PLAN_STATUS = {"todo": "pending", "in_progress": "in_progress", "done": "completed"}


class Result(NamedTuple):
    status: str
    content: list[Json]
    output: Json
    exit_code: int | None = None


def of_observation(observation: Any, cwd: str) -> Result:
    kinds = {kind.__name__ for kind in type(observation).__mro__}
    failed = bool(observation.is_error)
    if "TerminalObservation" in kinds:
        return _terminal(observation)
    blocks = content.blocks_of(observation.content)
    shown: list[Json] = [{"type": "content", "content": block} for block in blocks]
    if "FileEditorObservation" in kinds:
        shown = _read(observation, shown)
    absolute, changes = Call("", {}, cwd).absolute, _changes(observation, kinds)
    shown = [content.diff(absolute(path), old, new) for path, old, new in changes] or shown
    if isinstance(shot := getattr(observation, "screenshot_data", None), str) and shot:
        mime = "image/jpeg" if shot.startswith("/9j/") else "image/png"
        image = content.image_block(f"data:{mime};base64,{shot}")
        shown.append({"type": "content", "content": image})
    failed = failed or getattr(observation, "status", None) == "error"
    return Result("failed" if failed else "completed", shown, raw_output(observation))


def _terminal(observation: Any) -> Result:
    code = observation.exit_code
    failed = observation.is_error or code not in (0, -1, None)
    text = whole(observation.text)
    shown = [content.fenced(text)] if text.strip() else []
    output: Json = {"output": text}
    if code is not None and code >= 0:
        output["exitCode"] = code
    if directory := observation.metadata.working_dir:
        output["cwd"] = directory
    if code == -1:
        output["note"] = "the command is still running"
    return Result("failed" if failed else "completed", shown, output, output.get("exitCode"))


def _read(observation: Any, shown: list[Json]) -> list[Json]:
    if observation.is_error:
        return shown
    images = [item for item in shown if item["content"]["type"] != "text"]
    return ([content.fenced(observation.text)] if observation.text.strip() else []) + images


def _changes(observation: Any, kinds: set[str]) -> list[tuple[str, str | None, str]]:
    """Return each changed file's path, its old text (None if it is new) and its new one."""
    if "ApplyPatchObservation" in kinds:
        changes = getattr(getattr(observation, "commit", None), "changes", None) or {}
        return [
            (
                getattr(each, "move_path", None) or path,
                getattr(each, "old_content", None),
                getattr(each, "new_content", None) or "",  # "": it was deleted
            )
            for path, each in changes.items()
        ]
    if "FileEditorObservation" in kinds:
        path, old = observation.path, observation.old_content if observation.prev_exist else None
        same = observation.command == "view" or old == observation.new_content
    elif "FileChangeObservation" in kinds:
        path, old = observation.file_path, observation.old_content
        old, same = None if observation.is_new_file else old, False
    else:
        return []
    if same or observation.is_error or not path or observation.new_content is None:
        return []
    return [(path, old, observation.new_content)]


def raw_output(observation: Any) -> Json:
    dumped = content.dump(observation)
    fields = dumped if isinstance(dumped, dict) else {}
    output: Json = {key: value for key, value in fields.items() if key not in SHOWN_APART}
    if not output.get("is_error"):
        output.pop("is_error", None)
    text = getattr(observation, "text", "")
    if isinstance(text, str) and text:
        output["output"] = content.shortened(whole(text), LONGEST_OUTPUT)
    return output


def plan_of(observation: Any) -> list[Json] | None:
    """Return the entries of a task tracker's list; None if it has none."""
    tasks = getattr(observation, "task_list", None)
    if not isinstance(tasks, list) or observation.is_error:
        return None
    return [
        {
            "content": whole(str(task.title)),
            "priority": "medium",
            "status": PLAN_STATUS.get(task.status, "pending"),
        }
        for task in tasks
    ]
