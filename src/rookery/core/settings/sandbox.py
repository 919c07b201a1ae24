"""The table [sandbox] of config.toml: what an agent and what it starts see of this machine."""

from typing import NamedTuple

from rookery.core.limits import NEXT_AGENT, setting, settings_of

NONE, BWRAP, CONTAINER = KINDS = ("none", "bwrap", "container")
CHOICES = (
    (NONE, "None", "the agent can do what you can do"),
    (BWRAP, "bwrap", "it writes in its directories only and sees nothing else of your home"),
    (CONTAINER, "Container", "it runs from an image: rookery agents image"),
)
"""A session's choices: value, title, and what it means. In a sandbox it is safe to approve
everything."""
MOVED = (
    "From now on this session runs in the sandbox container: the agent itself is inside, with the "
    "session's directories."
)
ON, LISTED, OFF = NETWORKS = ("on", "listed", "off")


class Sandbox(NamedTuple):
    kind: str = setting(
        NONE,
        "Sandbox: what new sessions run in",
        choices=CHOICES,
        scopes="--sandbox KIND for one session, agents.NAME.sandbox for one agent",
        effect="at once, for new sessions; others keep theirs",
        strict_first=(CONTAINER, BWRAP, NONE),
    )
    network: str = setting(
        ON,
        "what a sandbox reaches of the network",
        choices=((ON, "Everything", ""), (LISTED, "Allowed hosts only", ""), (OFF, "Nothing", "")),
        effect=NEXT_AGENT,
        strict_first=(OFF, LISTED, ON),
    )
    allow: str = setting(
        "",
        "Allowed hosts: the hosts of a network that is limited to them, separated by spaces",
        unit="names, *.names, or addresses, each with a :port where it is neither 443 nor 80",
        example='"api.example.com *.example.org"',
        effect=NEXT_AGENT,
        runs=True,
    )
    read: str = setting(
        "",
        "Readable paths: extra files and directories that a sandbox may read, separated by spaces",
        unit="paths",
        example='"~/.gitconfig"',
        effect=NEXT_AGENT,
        runs=True,
    )
    pids: int = setting(
        1024,
        "Process limit: processes that may run at once in a sandbox",
        (16.0, 100000.0),
        unit="processes",
        effect=NEXT_AGENT,
    )
    git_hooks: bool = setting(
        False,
        "let an agent in a sandbox change git hooks and git settings",
        more="Otherwise .git/hooks and .git/config are read-only inside: what they name runs "
        "outside, with the user's next git command. Commits work.",
        effect=NEXT_AGENT,
        strict_first=(False, True),
    )
    image: str = setting(
        "",
        "container image; it must contain the agent's program",
        unit="the name of an image; empty: the one that `rookery agents image` makes",
        example='"localhost/agents:latest"',
        effect=NEXT_AGENT,
        runs=True,
    )
    engine: str = setting(
        "",
        "the command that runs containers: podman where it is installed, else docker",
        unit="a command, with arguments that come before `run` and `exec`",
        example='"podman --runtime runc"',
        effect=NEXT_AGENT,
        runs=True,
    )
    args: str = setting(
        "",
        "Engine arguments: extra arguments for podman or docker run",
        unit="text",
        example='"--memory 4g"',
        effect=NEXT_AGENT,
        runs=True,
    )
    workspace: str = setting(
        "",
        "where the session's directory is mounted in a container",
        unit="an absolute path; empty: where it is on this machine",
        example='"/workspace"',
        effect=NEXT_AGENT,
    )


SANDBOX = settings_of(Sandbox, "sandbox")
