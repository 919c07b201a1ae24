"""What a critic's verdict looks like: stars and a number, then the issues, most likely first."""

from itertools import islice

from rookery.core.blocks.document import Block, make_block
from rookery.core.critic import verdicts
from rookery.core.critic.state import ORIGIN
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json
from rookery.core.tools.calls import block_id

STARS = 5
LONGEST = 500
MOST = 50


def stars(score: float) -> str:
    full = int(score * STARS + 0.5)
    return "★" * full + "☆" * (STARS - full)


def verdict_block(after: Json, event: Event) -> Block:
    update = event.update
    block = make_block(block_id(after, event), "notice", status="info", kind=ORIGIN)
    source = lenient.first_line(lenient.text(update, "source"), 100)
    detail = lenient.text(update, "detail")[:LONGEST]
    if (state := lenient.text(update, "state")) not in ("", "judged"):
        block["title"] = "Critic: no verdict"
        block["text"], block["status"] = detail or state[:100], "cancelled"
        return block
    score = verdicts.share_of(update, "score")
    said = f"Critic {stars(score)} {score:.2f}" if score is not None else "Critic: no score"
    block["title"] = f"{said} ({source})" if source else said
    block["score"] = score
    block["status"] = "warn" if update.get("accepted") is False else "info"
    lines = [_issue(item) for item in islice(lenient.mappings(update, "issues"), MOST)]
    iteration, of = lenient.integer(update, "iteration") or 0, lenient.integer(update, "of") or 0
    if update.get("again") is True:
        lines.append(f"Refinement {iteration + 1} of {of} follows.")
    elif detail:
        lines.append(f"It stops here: {detail}.")
    block["text"] = "\n".join(lines)
    return block


def _issue(item: Json) -> str:
    name = lenient.first_line(lenient.text(item, "name"), verdicts.LONGEST)
    category = lenient.first_line(lenient.text(item, "category"), verdicts.LONGEST)
    share = verdicts.share_of(item, "probability")
    kind = lenient.text(item, "kind", verdicts.BEHAVIOURAL)
    words = verdicts.issue_words(verdicts.Issue(name or "an issue", category, share))
    return f"{words}, of the infrastructure" if kind == verdicts.INFRASTRUCTURE else words


def prompt_title(after: Json) -> str:
    """Of the loop's own prompt, which is no person's."""
    standing = after["critic"]
    count = f" {standing['iteration']} of {standing['of']}" if standing["of"] else ""
    return f"refinement{count}, from the critic"
