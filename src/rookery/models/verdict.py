"""What a call to a model told, as a sentence that a person can act on."""

import re
from typing import Literal, NamedTuple

type Kind = Literal["ok", "auth", "model", "rate_limit", "network", "provider", "extra"]

LONGEST = 300


class Verdict(NamedTuple):
    kind: Kind
    words: str

    @property
    def ok(self) -> bool:
        return self.kind == "ok"


def of_status(status: int, message: str, code: str, model: str, where: str) -> Verdict:
    """Of an answer that is an HTTP error."""
    said = f' It said: "{shortened(message)}"' if message.strip() else ""
    unknown = re.search(
        r"model\W+(\S+\W+)?(does not exist|not found|is not)|unknown model|no such model"
        r"|not a valid model|invalid model",
        message,
        re.IGNORECASE,
    )
    if status in (401, 403):
        return Verdict("auth", f"{where} does not accept the key ({status}).{said}")
    if code == "model_not_found" or (status in (400, 404, 422) and unknown):
        return Verdict("model", f"{where} knows no model {model!r}.{said}")
    if status == 404:
        return Verdict("model", f"There is no such API at {where}, or no model {model!r}.{said}")
    if status == 402 or code == "insufficient_quota":
        return Verdict("rate_limit", f"{where} wants to be paid first: check your plan.{said}")
    if status == 429:
        return Verdict("rate_limit", f"{where} allows no more calls just now (429).{said}")
    return Verdict("provider", f"{where} answered with an error ({status}).{said}")


def of_network(reason: str, where: str) -> Verdict:
    return Verdict("network", f"{where} cannot be reached: {shortened(reason)}.")


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
