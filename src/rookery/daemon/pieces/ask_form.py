"""The form that answers an ask: the agent's options as buttons in its order, or the fields of its
form.

Keys have the same meaning for every agent, as in the terminal; digits choose from the agent's own
list. `assets/answers.js` sends the answers; it requires a second step for what cannot be undone and
for what is allowed permanently."""

import json

from rookery.core import budgets
from rookery.core.asks.asks import ALLOWS, REJECTS
from rookery.core.blocks.ask_actions import first_action
from rookery.core.blocks.document import Block
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked
from rookery.core.policy import approvals
from rookery.daemon.pieces import forms
from rookery.export.html.text import esc, esc_line, tag
from rookery.render.ask_choices import (
    ALWAYS,
    alike,
    always_words,
    choices,
    is_go,
    is_link,
    letters_of,
)

WHY = "r"
READ_ONLY = "This Rookery is read-only. Answer in a terminal."
BUTTON = 60
"""Characters of a button."""


def actions(block: Block, session: str, *, read_only: bool = False) -> str:
    """Render the answers, for `View.actions`; "" unless the block is an open ask."""
    if block["role"] != "ask" or block["status"] != "asked":
        return ""
    if read_only:
        return tag("p", READ_ONLY, "soft")
    form = next((part for part in block["parts"] if part.get("type") == "form"), None)
    if form is not None:
        return _form(lenient.mapping(form, "schema"), lenient.mapping(block, "answer"), session)
    if is_link(block):
        return _link(block, session)
    return _options(block, session) if block["actions"] else ""


def _place(command: Json, session: str) -> str:
    ask, nonce = (esc_line(lenient.text(command, key), 500) for key in ("ask", "nonce"))
    return f'data-session="{esc_line(session)}" data-ask="{ask}" data-nonce="{nonce}"'


# --- options -------------------------------------------------------------------------------------


def _options(block: Block, session: str) -> str:
    keys = letters_of(block)
    buttons, ours = "", block.get("kind") == budgets.HOW
    plain = ours or is_go(block)
    lasting = [] if plain else _lasting(block["actions"], keys)
    for place, action in enumerate(block["actions"]):
        digit = str(place + 1) if place < 9 else ""
        if place not in [each["place"] for each in lasting]:
            buttons += _button(action, keys.get(place) or digit, digit)
        elif place == lasting[0]["place"]:
            buttons += _always(lasting)
    reject = first_action(block["actions"], REJECTS)
    allow = first_action(block["actions"], ALLOWS[:1])
    if allow is not None and not plain:
        buttons += _alike(block, "allow") + ("" if allow.get("danger") else _amended(allow))
    if reject is not None and not ours:
        buttons += _with_reason(reject, goes=is_go(block)) + _alike(block, "reject")
    buttons += _later()
    first = lenient.mapping(block["actions"][0], "command")
    danger = esc_line(lenient.text(block, "danger"))
    danger = f' data-danger="{danger}"' if danger else ""
    ways = tag("div", buttons, "ways")
    if wider := _wider(block, allow):
        inner = f"<summary>Allow more than this</summary>{tag('div', wider, 'ways')}"
        ways += tag("details", inner, "wider")
    return f'<div class="answers" {_place(first, session)}{danger}>{ways}</div>'


def _link(block: Block, session: str) -> str:
    """Render a link that the browser itself opens, and only on a click or a key."""
    first, other, decline = block["actions"]
    address = esc(lenient.text(first, "open"))
    buttons = (
        f'<a class="button primary" href="{address}" target="_blank" rel="noopener noreferrer" '
        f'data-do="answer-open" data-key="y" data-answer="{esc(json.dumps(_reply(first)))}">'
        f"{esc_line(first['label'])} {tag('kbd', 'y')}</a>"
        f'<button type="button" data-do="copy-link" data-text="{address}">Copy the address</button>'
    )
    buttons += _button(other, "2", "2") + _button(decline, "n", "3") + _later()
    place = _place(lenient.mapping(first, "command"), session)
    return f'<div class="answers" {place}>{tag("div", buttons, "ways")}</div>'


THE_AGENTS = "The agent remembers it. Rookery adds no rule."


def _lasting(actions: list[Json], keys: dict[int, str]) -> list[Json]:
    """Return what "always allow" can mean here, the choice that its key stands for first."""
    options = [
        {
            "place": place,
            **_shown(action),
            "answer": _reply(action),
            "rule": action.get("kind") == "rule",
        }
        for place, action in enumerate(actions)
        if action.get("kind") in ALWAYS and not action.get("disabled")
    ]
    return sorted(options, key=lambda each: each["place"] not in keys)


def _shown(action: Json) -> Json:
    """Describe what an option allows, and how far that reaches."""
    label, scope = lenient.text(action, "label"), always_words(action)
    short = label.removeprefix("Always allow ")
    short = scope if short.startswith("this (adds a rule)") else short
    if lenient.text(action, "kind") != "rule":
        scope = THE_AGENTS
    return {"label": masked(short), "words": masked(scope) if scope not in (label, short) else ""}


def _always(lasting: list[Json]) -> str:
    """Render one button for all lasting choices; its second step says what each allows and lets the
    user choose."""
    digits = " ".join(str(each["place"] + 1) for each in lasting if each["place"] < 9)
    shown = [{**each, "digit": str(each["place"] + 1)} for each in lasting]
    attributes = f'data-key="a" data-digit="{digits}" data-always'
    attributes += f' data-lasting="{esc(json.dumps(shown))}"'
    text = f"Always allow … {tag('kbd', 'a')}"
    return f'<button type="button" data-do="answer-always" {attributes}>{text}</button>'


def _later() -> str:
    """Render the button that defers: the ask stays open, the session goes to sleep, and the answer
    wakes it."""
    answer = esc(json.dumps({"defer": True}))
    text = f"Decide later {tag('kbd', 'd')}"
    return (
        '<button type="button" class="quiet" data-do="answer" data-key="d" data-digit="" '
        f'data-answer="{answer}">{text}</button>'
    )


def _wider(block: Block, allow: Json | None) -> str:
    """Render the buttons that allow this and also change how much is asked from now on."""
    letters = {"ask.risky": "w", "ask.all": "p"}
    modes = {"ask.risky": approvals.RISKY, "ask.all": approvals.ALL}
    offered = [each for each in choices(block)[1] if each.name in letters]
    if allow is None:
        return ""
    answer = esc(json.dumps(_reply(allow)))
    return "".join(
        f'<button type="button" data-do="answer-mode" data-always data-key="{letters[each.name]}" '
        f'data-mode="{modes[each.name]}" data-answer="{answer}">'
        f"{esc_line(each.label[:1].upper() + each.label[1:])} "
        f"{tag('kbd', letters[each.name])}</button>"
        for each in offered
    )


def _alike(block: Block, verdict: str) -> str:
    """Render the button that answers this ask and all similar ones, after showing them."""
    same = [{**each, "text": masked(each["text"])} for each in alike(block, verdict)]
    if not same:
        return ""
    key = {"allow": "Y", "reject": "N"}[verdict]
    text = f"{verdict.capitalize()} all {len(same)} alike {tag('kbd', key)}"
    attributes = f'data-do="answer-alike" data-key="{key}" data-verdict="{verdict}"'
    attributes += f' data-same="{esc(json.dumps(same))}"'
    return f'<button type="button" {attributes}>{text}</button>'


def _amended(allow: Json) -> str:
    """Render the button that allows it and asks what else the agent should mind."""
    attributes = f'data-key="m" data-answer="{esc(json.dumps(_reply(allow)))}"'
    attributes += ' data-question="What else should the agent mind?" data-no="Allow and send"'
    attributes += ' data-needs="1"'
    text = f"Yes, and … {tag('kbd', 'm')}"
    return f'<button type="button" data-do="answer-why" {attributes}>{text}</button>'


def _with_reason(reject: Json, *, goes: bool) -> str:
    """Render the button that rejects it and asks for a reason. `goes` means that the ask is about a
    plan."""
    text = "Keep planning, and say how" if goes else "Reject, and say why"
    question, no = ("What should change?", "Keep planning") if goes else ("Why not?", "Reject")
    attributes = f'data-key="{WHY}" data-answer="{esc(json.dumps(_reply(reject)))}"'
    attributes += f' data-question="{question}" data-no="{no}"'
    button = f"{text} {tag('kbd', WHY)}"
    return f'<button type="button" data-do="answer-why" {attributes}>{button}</button>'


def _reply(action: Json) -> Json:
    """Return the fields of an answer's command, without those that identify the ask."""
    command = lenient.mapping(action, "command")
    return {key: value for key, value in command.items() if key not in ("do", "ask", "nonce")}


def _button(action: Json, key: str, digit: str) -> str:
    kind, label = lenient.text(action, "kind"), masked(lenient.text(action, "label"))
    why = lenient.text(action, "disabled")
    danger = bool(action.get("danger"))
    look = "danger" if danger else "primary" if kind == "allow_once" else ""
    text = esc_line(_short(label))
    attributes = (
        f' data-key="{key}" data-digit="{digit}" data-answer="{esc(json.dumps(_reply(action)))}"'
    )
    attributes += " data-always" if kind in (*ALWAYS, "reject_always") else ""
    attributes += " data-danger" if danger else ""
    attributes += f' disabled title="{esc_line(why)}"' if why else f' title="{esc_line(label)}"'
    hint = tag("kbd", key) if key and not why else ""
    hint = f"{tag('span', 'hold', 'hint')} {hint}" if danger else hint
    return (
        f'<button type="button" class="{look}" data-do="answer"{attributes}>{text} {hint}</button>'
    )


def _short(text: str) -> str:
    return text if len(text) <= BUTTON else text[: BUTTON - 1].rstrip() + "…"


# --- forms ---------------------------------------------------------------------------------------


def _form(schema: Json, command: Json, session: str) -> str:
    place = f"f{esc_line(lenient.text(command, 'nonce'), 60)}"
    html = tag("div", forms.fields(schema, {}, place), "form-fields")
    html += '<p class="wrong failed" role="alert" hidden></p>'
    html += tag(
        "div",
        '<button class="primary">Send the answer</button>'
        '<button type="button" class="quiet" data-do="answer-no" data-action="decline" '
        f'data-key="x">Decline {tag("kbd", "x")}</button>{_later()}',
        "ways",
    )
    place = _place(command, session)
    start = f'<form class="answers" {forms.ONLY_BY_SCRIPT} data-do="answer-form" {place}>'
    return f"{start}{html}</form>"
