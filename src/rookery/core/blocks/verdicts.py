"""Rendering the critic's verdict on a turn as a block."""

from itertools import islice

from rookery.core.blocks.document import Block, block_of_event
from rookery.core.critic import state, verdicts
from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient

MAX_DETAIL_LENGTH = 500
STARS = 5
MAX_ISSUES = 50


def verdict(after: Header, event: Event) -> Block:
    """Return the block: stars and a number, then the issues, most likely first."""
    update = event.update
    block = block_of_event(after, event, "notice", status="info", kind=state.ORIGIN)
    source = lenient.first_line(lenient.text(update, "source"), 100)
    detail = lenient.text(update, "detail")[:MAX_DETAIL_LENGTH]
    if (ended := lenient.text(update, "state")) not in ("", "judged"):
        text = detail or ended[:100]
        return block | {"title": "Critic: no verdict", "text": text, "status": "cancelled"}
    score = verdicts.share_of(update, "score")
    heading = f"Critic {stars(score)} {score:.2f}" if score is not None else "Critic: no score"
    block |= {"title": f"{heading} ({source})" if source else heading, "score": score}
    block["status"] = "warn" if update.get("accepted") is False else "info"
    lines = [_issue(item) for item in islice(lenient.mappings(update, "issues"), MAX_ISSUES)]
    iteration, of = lenient.integer(update, "iteration") or 0, lenient.integer(update, "of") or 0
    if update.get("again") is True:
        lines.append(f"Refinement {iteration + 1} of {of} follows.")
    elif detail:
        lines.append(f"No further refinement: {detail}.")
    return block | {"text": "\n".join(lines)}


def stars(score: float) -> str:
    full = int(score * STARS + 0.5)
    return "★" * full + "☆" * (STARS - full)


def _issue(item: Json) -> str:
    name = lenient.first_line(lenient.text(item, "name"), verdicts.MAX_LABEL_LENGTH)
    category = lenient.first_line(lenient.text(item, "category"), verdicts.MAX_LABEL_LENGTH)
    share = verdicts.share_of(item, "probability")
    text = verdicts.issue_words(verdicts.Issue(name or "an issue", category, share))
    outside = lenient.text(item, "kind") == verdicts.INFRASTRUCTURE
    return f"{text} (infrastructure)" if outside else text
