"""The critic's standing in a session: a field of the header, for status lines and for the
next worker to continue from.

    state      "", "judging" (a verdict is to come), "refining" (a refinement is under way)
    iteration  refinements since the user's last prompt, of `of`
    score, accepted  of the last verdict
    enabled, refine  the user's choice for this session; None: as configured"""

from rookery.core.json import Json, kind_of, lenient

ORIGIN = "critic"
"""The origin of a prompt that the loop sent."""

_FRESH: Json = {"state": "", "iteration": 0, "of": 0, "score": None, "accepted": None}

CHOICES = {"critic": "enabled", "refine": "refine"}
"""The fields that the user can set, by option name."""


def after(standing: Json, update: Json) -> Json:
    """Return the standing after an event: the same object if nothing changed."""
    changes: Json = {}
    match kind_of(update):
        case "_prompt":
            changes = _prompted(update)
        case "_turn" if update.get("state") == "idle":
            changes = {"state": "judging" if update.get("critic") is True else ""}
        case "_critic":
            changes = _judged(update)
        case "_context" | "_agent" if update.get("state") in ("cleared", "switched"):
            changes = _FRESH
        case "_session":
            changes = _chosen(update)
    if all(standing[key] == value for key, value in changes.items()):
        return standing
    return {**standing, **changes}


def _prompted(update: Json) -> Json:
    origin = lenient.text(update, "origin")
    if origin == ORIGIN:
        return {"state": "refining"}
    if origin:  # sent again by itself: the same prompt as before
        return {"state": ""}
    return {"iteration": 0, "of": 0} if update.get("steered") is True else _FRESH


def _judged(update: Json) -> Json:
    again = update.get("again") is True
    if update.get("state") not in (None, "judged"):  # cancelled, interrupted
        return {"state": ""}
    accepted = update.get("accepted")
    changes: Json = {
        "score": lenient.number(update, "score"),
        "accepted": accepted if isinstance(accepted, bool) else None,
    }
    if update.get("more") is True:  # another verdict on the same turn is to come
        return changes
    changes["state"] = "refining" if again else ""
    if again:
        changes["iteration"] = (lenient.integer(update, "iteration") or 0) + 1
        changes["of"] = lenient.integer(update, "of") or 0
    return changes


def _chosen(update: Json) -> Json:
    """Return the choices that a `_session` sets; `default` (null) takes a choice back."""
    return {
        field: update[name]
        for name, field in CHOICES.items()
        if name in update and (update[name] is None or isinstance(update[name], bool))
    }
