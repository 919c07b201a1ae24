"""Prompts to an agent: sending one, and changing those that wait for the end of a turn."""

from typing import Annotated, Any, Literal

from rookery.core.json import Json
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, command

GROUP = "Start and talk"

Text = Annotated[str, Arg("Its text.", max_length=1_000_000, how="text")]
Blocks = Annotated[
    list[dict[str, Any]] | None,
    Arg("More of it, as ACP's content: links to files, say.", maximum=100, how="blocks"),
]
Attachments = Annotated[
    list[dict[str, Any]] | None,
    Arg("Files: 10 MiB each and 20 MiB together at most.", maximum=8, how="files"),
]
Steer = Annotated[bool, Arg("Into the running turn, if the agent supports that.")]
Edits = Annotated[
    int, Arg("The turn whose prompt this was: its secrets are known.", 0, 10**9, typed=False)
]

Op = Annotated[Literal["edit", "move", "remove", "send"], Arg("What is done with it.")]
Item = Annotated[str, Arg("From the header's `queue`; with `send`, left out: all.", max_length=500)]
Prompt = Annotated[
    list[dict[str, Any]] | None, Arg("With `edit`: the new prompt, as ACP's content.", how="blocks")
]
To = Annotated[int, Arg("With `move`: its new place, from 0.", 0, 100_000)]


def with_secrets(at: At, command: Json) -> Json:
    """Return the command with the secrets of its prompt put back, which its sender knows only
    masked: the prompt hit a limit and is sent again, or it waits or was sent before, and was
    edited. Raises Refused."""
    from rookery.client.reading import prompt_text
    from rookery.core.agent.prompt import words_of
    from rookery.core.json import lenient
    from rookery.core.json.secrets import MASK, masked, restored
    from rookery.core.refusals import Refused
    from rookery.home import paths
    from rookery.log.reader import Reader

    edits = int(command.pop("edits", 0))
    sent: list[Json] = command.get("prompt") or []
    masked_text = words_of(sent)
    if MASK not in masked_text:
        return command
    with Reader.open(paths.session_dir(at.home, at.session)) as log:
        header = log.header()
        before = prompt_text(log, edits) if edits else ""
    if command["do"] == "prompt" and not before:
        known = list(lenient.mappings(header.rate_limit, "prompt"))
        return command | ({"prompt": known} if masked_text == masked(words_of(known)) else {})
    waiting = [each for each in header.queue if each["id"] == command.get("item")]
    before = before or (words_of(waiting[0]["prompt"]) if waiting else masked_text)
    text = restored(masked_text, before)
    if text is None:
        hidden = "This prompt contains a secret, which is not shown here."
        raise Refused("hidden_secret", hidden, f"Replace {MASK} with it.")
    rest = [each for each in sent if each.get("type") != "text"]
    return command | {"prompt": [{"type": "text", "text": text}, *rest]}


def completed(at: At, command: Json) -> Json:
    """Return the command with its secrets, and with its files stored beside the session's log.
    Raises Refused."""
    from rookery.client.attach import decoded, stage
    from rookery.home import paths

    files = command.pop("attachments", None) or []
    command = with_secrets(at, command)
    blocks = stage(paths.session_dir(at.home, at.session), decoded(files)) if files else []
    return command | {"prompt": [*command["prompt"], *blocks]}


@command("Send a prompt", group=GROUP, on="session", listed=False, typed=False, completes=completed)
def prompt(
    text: Text = "",
    blocks: Blocks = None,
    attachments: Attachments = None,
    steer: Steer = False,
    edits: Edits = 0,
) -> Json:
    """Send a prompt, with files if there are any. It waits in the queue while a turn runs."""
    text_blocks: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    request: Json = {"do": "prompt", "prompt": [*text_blocks, *(blocks or ())]}
    given = {"attachments": attachments, "steer": steer, "edits": edits}
    return request | {name: given[name] for name in given if given[name]}


@command(
    "Change the queue",
    group=GROUP,
    on="session",
    listed=False,
    typed=False,
    completes=with_secrets,
)
def queue(op: Op, item: Item = "", prompt: Prompt = None, to: To = 0) -> Json:
    """Change a prompt that waits, or send it now."""
    request: Json = {"do": "queue", "op": op} | ({"item": item} if item else {})
    request |= {} if prompt is None else {"prompt": prompt}
    return request | ({"to": to} if op == "move" else {})
