"""The turns of a session to which it can be rewound, and what that would change of its files."""

import json
import os
import subprocess

from rookery.client.config import in_force
from rookery.client.environment import kept_of
from rookery.client.session import Rejected
from rookery.core.agent.prompt import words_of
from rookery.core.json import Json, kind_of, lenient
from rookery.core.limits import Policy
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.home.config import ConfigError
from rookery.log.reader import Reader
from rookery.snapshots import job

SECONDS = 300.0


def turns(home: str, session: str) -> list[Json]:
    """Oldest first, from 0, the beginning: when each ended, what was asked, whether its files are
    known, and whether a rewind hides it. Raises LogError."""
    with Reader.open(paths.session_dir(home, session)) as log:
        header = log.header()
        events = log.of_kinds("_prompt", rewinding.SNAPSHOT)
        last, hidden = header["turn"], header["hidden"]
        spans = [log.spans(n) for n in range(last + 1)]
        firsts = [log.first_seq(n) for n in range(last + 1)]
    shots = [event for event in events if kind_of(event.update) == rewinding.SNAPSHOT]
    prompts = {event.seq: event.update for event in events}
    return [
        {
            "turn": turn,
            "at": spans[turn][1],
            "prompt": words_of(lenient.sequence(prompts.get(firsts[turn], {}), "prompt"))[:200],
            "files": bool(rewinding.snapshot_of(shots, turn)),
            "hidden": turn > 0 and rewinding.is_hidden(hidden, firsts[turn]),
        }
        for turn in range(last + 1)
    ]


def snapshot_file_bytes(home: str) -> int:
    """Bytes of a file that is kept; a configuration that cannot be read has the usual ones."""
    try:
        return in_force.load(home).policy.snapshot_file_bytes
    except ConfigError:
        return Policy().snapshot_file_bytes


def preview(home: str, session: str, turn: int) -> list[tuple[str, str]]:
    """What a rewind of the files to a turn would do: `created`, `changed` or `removed`, and the
    path. Nothing is changed. Raises Rejected, LogError."""
    directory = paths.session_dir(home, session)
    with Reader.open(directory) as log:
        cwd = log.header()["cwd"]
        target = rewinding.snapshot_of(log.of_kinds(rewinding.SNAPSHOT), turn)
    if not target:
        raise Rejected(
            {
                "reason": "no_snapshot",
                "message": f"There is no snapshot of the files after turn {turn}.",
            }
        )
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    most = snapshot_file_bytes(home)
    asked = {"do": "compare", "target": target}
    request = job.request(directory, cwd, kept_of(saved), most, **asked)
    if request is None:
        raise Rejected({"reason": "no_git", "message": job.NO_GIT})
    try:
        done = subprocess.run(
            job.argv(),
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Rejected(
            {"reason": "failed", "message": f"The files could not be compared: {error}"}
        ) from error
    if "changes" not in said:
        raise Rejected({"reason": said.get("refused"), "message": said.get("message")})
    return [(str(kind), str(path)) for kind, path in said["changes"]]
