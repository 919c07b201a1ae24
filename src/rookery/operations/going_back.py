"""Going back to an earlier turn: rewinding the session, or forking a new one there."""

from typing import TYPE_CHECKING, Annotated, TypedDict

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, command, read, work

if TYPE_CHECKING:
    from rookery.core.json import Json
    from rookery.core.turn import rewind_preview as previews

GROUP = "Start and talk"
LAST = 10**9
WHEN = "In milliseconds of the epoch."

Turn = Annotated[
    int | None,
    Arg(
        "The turn to go back to; 0: the beginning.",
        minimum=0,
        maximum=LAST,
        positional=True,
        reason="no_turn",
    ),
]
Undo = Annotated[bool, Arg("Undo the last rewind.")]
Files = Annotated[bool, Arg("Only the files of the session's directory.")]
Conversation = Annotated[bool, Arg("Only the conversation.")]
All = Annotated[bool, Arg("Also files that others changed, or commits.")]
Where = Annotated[
    int | None,
    Arg("The turn; without one: what the undoing of the last rewind would do.", 0, LAST),
]
Compared = Annotated[bool, Arg("Compare the files, too.")]
Last = Annotated[
    int | None,
    Arg("The last turn that it has; left out: the last that is over.", 0, LAST, positional=True),
]
Worktree = Annotated[bool, Arg("In a git worktree of its own, with the files as they were then.")]
Title = Annotated[str, Arg("Title of the new session.", max_length=200, metavar="TEXT")]
Branch = Annotated[
    str, Arg("Name of the worktree's branch, after rookery/.", max_length=100, typed=False)
]


class Forked(TypedDict):
    summary: str
    id: Annotated[str, "The new session."]
    directory: Annotated[str, "Where it works."]


class RewindTurn(TypedDict):
    turn: int
    at: Annotated[int, f"Its last event. {WHEN}"]
    prompt: str
    files: Annotated[bool, "Whether there is a snapshot of the files."]
    passed: Annotated[bool, "Whether it was passed over: the next turn was quicker."]
    hidden: Annotated[bool, "Whether a rewind hides it."]


class RewindTurns(TypedDict):
    turns: Annotated[list[RewindTurn], "Oldest first, from 0, the beginning."]


class RewindWords(TypedDict):
    """The preview of a rewind as sentences."""

    files: str
    conversation: str
    groups: Annotated[dict[str, str], "A title for each origin."]
    left: list[str]


class RewindChange(TypedDict):
    kind: Annotated[str, "`created`, `changed` or `removed`."]
    path: str
    by: Annotated[
        str,
        "Who changed it since: `own` (this session alone), `hand` (you or another program), "
        "`session` (another session), `committed` (it is in a commit made since) or `unclear`.",
    ]
    who: Annotated[str, "The other sessions, by their ids."]


class RewindPreview(TypedDict):
    turn: int
    undo: bool
    last: Annotated[int, "The newest turn."]
    target: Annotated[str, "The snapshot; empty: there is none, the files stay."]
    changes: Annotated[list[RewindChange], "At most 1,000, the session's own first."]
    total: Annotated[int, "How many changes there are."]
    totals: Annotated[dict[str, int], "The same by `by`."]
    left: Annotated[
        dict[str, list[str]],
        "Names of what is left alone: `ignored`, `large`, `nested`, `unreadable`, `spared`.",
    ]
    hides: Annotated[int, "Turns that a rewind of the conversation hides."]
    shows: Annotated[int, "Hidden turns that it brings back."]
    notes: list[str]
    own_fingerprint: Annotated[str, "A yes to the session's own files."]
    fingerprint: Annotated[str, "A yes to all of them."]
    words: RewindWords


@read("Turns to go back to", group=GROUP, on="session", listed=False, typed=False)
def rewinds(at: At) -> RewindTurns:
    """List the turns to which a session can be rewound."""
    from rookery.client.rewind.turns import turns

    listing: RewindTurns = {"turns": turns(at.home, at.session)}  # type: ignore[typeddict-item]
    return listing


@read("What a rewind would do", group=GROUP, on="session", listed=False, typed=False)
def rewind_preview(at: At, turn: Where = None, files: Compared = True) -> RewindPreview:
    """Say what a rewind to a turn would change, and who changed it. Nothing is changed."""
    from rookery.core.turn.rewind_preview import to_json

    shown: RewindPreview = to_json(_compared(at, turn, files=files))  # type: ignore[assignment]
    return shown


def _compared(at: At, turn: int | None, *, files: bool) -> "previews.Preview":
    from rookery.client.rewind.preview import preview

    return preview(at.home, at.session, turn or 0, undo=turn is None, files=files)


def _would_rewind(
    at: At,
    turn: Turn = None,
    undo: Undo = False,
    files: Files = False,
    conversation: Conversation = False,
    all_: All = False,
) -> Preview:
    from rookery.core.refusals import Refused
    from rookery.core.turn import rewind_preview as previews
    from rookery.core.turn import rewinding

    asked = _rewind(turn, undo, files, conversation)
    if (refusal := rewinding.check(asked)) is not None:
        raise Refused(*refusal)
    parts = {each: rewinding.wants(asked, each) for each in ("files", "conversation")}
    compared = _compared(at, None if undo else turn, files=parts["files"])
    if parts["files"] and not compared.target and not undo:
        raise Refused("no_snapshot", compared.notes[0])
    yes = compared.fingerprint if all_ else compared.own_fingerprint
    return Preview("\n".join(previews.text(compared, every=all_, **parts)), yes)


@command(
    "Rewind",
    group=GROUP,
    on="session",
    listed=False,
    preview=_would_rewind,
    examples=("3f2a --list", "3f2a 4 --dry-run", "3f2a 4", "3f2a 4 --files --yes", "3f2a --undo"),
)
def rewind(
    turn: Turn = None,
    undo: Undo = False,
    files: Files = False,
    conversation: Conversation = False,
    all_: All = False,
) -> "Json":
    """Take a session back to an earlier turn: files, conversation or both.

    It prints what would change and asks first. Only files are rewound that this session alone
    changed: not what you or others changed since, nor what was committed since. For those, too:
    --all, for which --yes is not enough. Later turns are hidden, not deleted, and the files that
    are there now are kept first: --undo brings both back. Files that git ignores, and very large
    ones, are left alone. Turn 0 is the beginning.
    """
    del all_  # the fingerprint says which files
    return _rewind(turn, undo, files, conversation)


def _rewind(turn: int | None, undo: bool, files: bool, conversation: bool) -> "Json":
    request: Json = {"do": "rewind"} | ({"undo": True} if undo else {})
    request |= {} if turn is None else {"turn": turn}
    if files is not conversation:
        request |= {"files": files, "conversation": conversation}
    return request


@work(
    "Fork",
    group=GROUP,
    on="session",
    person="fork a session",
    more="a new session with the turns so far",
    examples=("3f2a", '3f2a 4 --title "The other way"', "3f2a 4 --worktree"),
)
def fork(
    at: At, turn: Last = None, worktree: Worktree = False, title: Title = "", branch: Branch = ""
) -> Forked:
    """Fork a session at a turn: a new session that begins there. It has the turns up to TURN, or
    all, and its id is printed.

    The two share the directory: what one agent changes, the other sees; with --worktree, each has
    its own. The new session's agent remembers the turns if it can fork its own session; otherwise
    your first prompt brings it a recap. After a rewind, the turn that you see is forked.
    """
    import os

    from rookery.client.rewind import fork as forking
    from rookery.core.blocks import rewinds
    from rookery.home import paths
    from rookery.log.reader import Reader

    own = branch if worktree or branch else None
    directory = paths.session_dir(at.home, at.name)
    if not os.path.isdir(directory):
        forking.fork(at.home, at.session, turn, title, own, at.report, at.name)
    with Reader.open(directory) as log:
        header = log.header()
    together = "" if own is not None else f", together with {at.session}"
    summary = f"Working in {header.cwd}{together}."
    if header.agent_session is None and header.turn:
        summary += f" {rewinds.LOST}"
    return {"summary": summary, "id": at.name, "directory": header.cwd}
