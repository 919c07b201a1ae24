"""Carrying out works and reads in the process that has the home: the arguments are checked, the
caller is known to be a person where that matters, and the user has agreed to what would happen."""

import hashlib
import json
from typing import Any

from rookery.client.guard import require_person
from rookery.core.json import Json
from rookery.core.refusals import CHANGED, NotAgreed, Refused
from rookery.operations.catalogue.row import SHOW, At, Preview, Row


def preview_of(shown: str, *facts: Any) -> Preview:
    """Return a preview whose fingerprint covers what is shown and, beside it, `facts`."""
    whole = json.dumps([shown, *facts], sort_keys=True, default=str)
    return Preview(shown, hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def carry_out(row: Row, at: At, given: Json, fingerprint: str | None = "") -> Json:
    """Carry out an operation and return its result. `fingerprint`: of the preview that was agreed
    to; None: nothing has to be agreed to; SHOW: nothing is done. Raises Refused, and what the
    operation raises."""
    if (refusal := row.check(given)) is not None:
        raise Refused(refusal.reason, refusal.message, kind="usage")
    if row.traits.person:
        require_person(at.home, row.traits.person)
    at = at._replace(agreed=fingerprint)
    agree(row, at, given)
    result: Json = row.call(given, at)
    return result


def agree(row: Row, at: At, given: Json) -> None:
    """Check that the user agreed to what the operation would do. Raises NotAgreed if not, or if
    that is only to be shown; and what the preview raises."""
    if row.traits.preview is not None and at.agreed is not None:
        check_agreed(at, row.call(given, at, body=row.traits.preview))
    if at.agreed == SHOW:
        raise NotAgreed("This needs no confirmation.", "")


def check_agreed(at: At, preview: Preview | None) -> None:
    """Raise NotAgreed unless the user agreed to this preview. A work checks again at points where
    the world may have changed meanwhile."""
    if preview is None or at.agreed in (None, preview.fingerprint):
        return
    shown, fingerprint, reason, remedy = preview
    raise NotAgreed(shown, fingerprint, reason if at.agreed in ("", SHOW) else CHANGED, remedy)
