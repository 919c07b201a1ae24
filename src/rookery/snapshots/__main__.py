"""Runs one job at a store in a process of its own: a request on stdin, an answer on stdout, each a
line of JSON. Run by its path with -I and -S, like a worker."""

import json
import os
import sys

if not __package__:
    sys.path.insert(0, __file__.rsplit("/", 3)[0])

from typing import Any

from rookery.snapshots.scope import Unfit
from rookery.snapshots.store import NAMED, Store

GENTLE = 10
"""How far it steps back behind what else runs, where nobody waits for it."""

type Json = dict[str, Any]


def work(given: Json) -> Json:
    """Do the requested job and return the answer. Raises Unfit, OSError."""
    asked = (given["store"], given["git"], given["root"], given["home"], given["environment"])
    with Store.opened(*asked) as store:
        match given["do"]:
            case "take":
                store.moment = float(given.get("moment") or 0)
                return store.take(given["most"])._asdict() | {"top": store.scope.top}
            case "tidy":
                store.tidy(given["keep"])
                return {}
        if not store.has(given["target"]):
            raise Unfit("gone", "That snapshot no longer exists.")
        return (_compared if given["do"] == "compare" else _restored)(store, given)


def _compared(store: Store, given: Json) -> Json:
    """The changes that turn the present into the target: each path with who changed it (`acts`), as
    far as the snapshots tell, and what is left alone. Nothing is changed."""
    from rookery.snapshots import provenance, restore

    target = given["target"]
    taken = store.take(given["most"])
    changes = restore.changes(store, taken.id, target)
    spared = restore.left_alone(store, target, changes)
    changes = [each for each in changes if each.path not in spared]
    traces = provenance.traces(store, changes, given["acts"], taken.id)
    committed = provenance.committed(store, target, changes)
    rows = [
        {"kind": each.kind, **each._asdict(), **traces[each.path]._asdict()} for each in changes
    ]
    left = {path: why for path, why in spared.items() if not path.endswith("/")}
    names = {"large": taken.large, "nested": taken.nested, "unreadable": taken.unreadable}
    return {
        "id": taken.id,
        "changes": rows,
        "committed": None if committed is None else sorted(committed),
        "spared": left,
        "left": names | {"ignored": provenance.ignored(store, NAMED)},
    }


def _restored(store: Store, given: Json) -> Json:
    from rookery.snapshots import restore

    only = None if given.get("paths") is None else {*given["paths"]}
    outcome = restore.restore(store, given["present"], given["target"], only)
    after = store.take(given["most"])
    same = not outcome.kept
    done = [*restore.named(outcome.done)]
    return {"changes": done, "kept": outcome.kept, "same": same, "id": after.id}


def main() -> int:
    given = json.loads(sys.stdin.buffer.read())
    if given["do"] in ("take", "tidy"):
        os.nice(GENTLE)
    try:
        reply = work(given)
    except Unfit as error:
        reply = {"refused": error.reason, "message": str(error)}
    except OSError as error:
        reply = {"refused": "failed", "message": str(error)}
    sys.stdout.write(json.dumps(reply) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
