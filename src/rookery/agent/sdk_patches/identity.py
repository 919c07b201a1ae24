"""The model reads that it is Rookery's agent: the SDK's prompt speaks of another product, with
its manual and its address for commits.

Made for openhands-sdk 1.58 and its prompt sections; a `SOUL.md` beside the SDK's files still comes
first. Unnecessary once the SDK names no product of its own.
"""

from typing import Any

from openhands.sdk.agent import base
from openhands.sdk.context.prompts.sections import static

SOUL = (
    "You are Rookery's agent, a helpful AI assistant that can interact with a computer to solve"
    " tasks."
)
ABOUT = """\
<SELF_DOCUMENTATION>
You are Rookery's own agent, built on the OpenHands SDK. Rookery runs coding agents in the \
background, keeps every turn, and lets its user follow and steer them from a terminal or an editor.
When the user asks what you or Rookery can do, or how Rookery is used, look at the output of \
`rookery --help` and `rookery COMMAND --help` where the command is installed, and say so where you \
do not know.
</SELF_DOCUMENTATION>"""

REWORDED: tuple[tuple[Any, str, str, str], ...] = (
    (
        *(static.VersionControlSection, "body"),
        " and add Co-authored-by: openhands <openhands@all-hands.dev> to any commits messages you"
        ' make. if a git config doesn\'t exist use "openhands" as the user.name and'
        ' "openhands@all-hands.dev" as the user.email',
        '. If a git config doesn\'t exist use "rookery" as the user.name and "rookery@localhost" as'
        " the user.email",
    ),
    (static.ExternalServicesSection, "body", "AI agent (OpenHands)", "AI agent (Rookery)"),
    (
        *(static.MemorySection, "_AGENTS_MD_GUIDANCE"),
        "* When asked to find a previous local OpenHands conversation, search the workspace's"
        " `workspace/conversations/` directory for its event history.\n",
        "",
    ),
    (
        *(static.MemorySection, "_AGENTS_MD_GUIDANCE"),
        "\n* For more information about skills, see: https://docs.openhands.dev/overview/skills",
        "",
    ),
)


def install() -> None:
    base._DEFAULT_SOUL = SOUL
    static.SelfDocumentationSection.body = ABOUT
    for section, name, theirs, ours in REWORDED:
        setattr(section, name, getattr(section, name).replace(theirs, ours))
