"""Works and reads, carried out by the process that has the home: the arguments checked, the one who
asks known to be a person where that matters, what would happen agreed to."""

import hashlib
import json
from typing import Any

from rookery.client.guard import require_person
from rookery.core.json import Json
from rookery.core.refusals import CHANGED, NotAgreed, Refused
from rookery.operations.catalogue.row import SHOW, At, Preview, Row


def preview_of(shown: str, *facts: Any) -> Preview:
    """A preview whose fingerprint stands for what is shown, and for `facts` beside it."""
    whole = json.dumps([shown, *facts], sort_keys=True, default=str)
    return Preview(shown, hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def carry_out(row: Row, at: At, given: Json, fingerprint: str | None = "") -> Json:
    """What came of it. `fingerprint`: of the preview that was agreed to; None: nothing has to be
    agreed to; SHOW: nothing is done. Raises Refused, and what the operation raises."""
    if (refusal := row.check(given)) is not None:
        raise Refused(refusal.reason, refusal.message, kind="usage")
    if row.traits.person:
        require_person(at.home, row.traits.person)
    at = at._replace(agreed=fingerprint)
    agree(row, at, given)
    result: Json = row.call(given, at)
    return result


def agree(row: Row, at: At, given: Json) -> None:
    """Raises NotAgreed, where what it would do was not agreed to, or is only to be shown; and what
    the preview raises."""
    if row.traits.preview is not None and at.agreed is not None:
        check_agreed(at, row.call(given, at, body=row.traits.preview))
    if at.agreed == SHOW:
        raise NotAgreed("This needs no confirmation.", "")


def check_agreed(at: At, preview: Preview | None) -> None:
    """Raises NotAgreed. A work asks again where the world may have changed under it."""
    if preview is None or at.agreed in (None, preview.fingerprint):
        return
    shown, fingerprint, reason, remedy = preview
    raise NotAgreed(shown, fingerprint, reason if at.agreed in ("", SHOW) else CHANGED, remedy)
