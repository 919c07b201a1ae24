"""One job at a store, as a process of its own: a request on stdin, an answer on stdout, each a line
of JSON. Run by its path with -I and -S, as a worker is."""

import json
import os
import sys

if not __package__:
    sys.path.insert(0, __file__.rsplit("/", 3)[0])

from typing import Any

from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import Store

GENTLE = 10
"""How far it steps back behind what else runs."""

type Json = dict[str, Any]


def work(given: Json) -> Json:
    """Raises Unfit, OSError."""
    asked = (given["store"], given["git"], given["root"], given["home"], given["environment"])
    with Store.opened(*asked) as store:
        match given["do"]:
            case "take":
                return store.take(given["most"])._asdict() | {"top": store.scope.top}
            case "tidy":
                store.tidy(given["keep"])
                return {}
        from rookery.snapshots import restore

        target = str(given["target"])
        if not store.has(target):
            raise Unfit("gone", "That snapshot no longer exists.")
        if given["do"] == "compare":
            present = store.take(given["most"]).id
            found = restore.changes(store, present, target)
            return {"changes": [*restore.named(found)], "top": store.scope.top}
        outcome = restore.restore(store, given["present"], target)
        after = store.take(given["most"])
        same = not restore.changes(store, after.id, target)
        done = [*restore.named(outcome.done)]
        return {"changes": done, "kept": outcome.kept, "same": same, "id": after.id}


def main() -> int:
    os.nice(GENTLE)
    try:
        said = work(json.loads(sys.stdin.buffer.read()))
    except Unfit as error:
        said = {"refused": error.reason, "message": str(error)}
    except OSError as error:
        said = {"refused": "failed", "message": str(error)}
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
