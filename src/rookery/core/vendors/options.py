"""An agent's modes, models and effort as one list of options, whichever of three ways it offers
them."""

from rookery.core.header import Header
from rookery.core.json import Json, lenient

# An option: {id, name, category, value, choices: [{value, name, description}], via}.
# `via` says how it is set: "config" (session/set_config_option), "mode" (session/set_mode) or
# "model" (session/set_model, which only acknowledges).


def offered(offers: Json) -> list[Json]:
    """Return config options first; session modes and legacy models only if those lack them."""
    options = [_from_config(item) for item in lenient.mappings(offers, "configOptions")]
    categories = {option["category"] for option in options}
    for name in ("mode", "model"):
        given = lenient.mapping(offers, f"{name}s")
        if given and name not in categories:
            options.append(_from_legacy(name, given))
    return options


def as_offered(header: Header) -> Json:
    """Return the agent's `configOptions`, `modes` and `models` as it sent them."""
    offers: Json = header.offers
    return offers


CATEGORY = {"mode": "mode", "model": "model", "effort": "thought_level"}
"""The user's name of an option, and the protocol's category for it."""


LISTED = 20
"""Values that a sentence names; the rest is counted by an ellipsis."""


def find(options: list[Json], name: str) -> Json | None:
    """Return the option that the user means: mode, model, effort, or an option's own id."""
    category = CATEGORY.get(name)
    matches = [option for option in options if category and option["category"] == category]
    matches += [option for option in options if option["id"] == name]
    return matches[0] if matches else None


ALIKE = (frozenset({"acceptedits", "autoedit"}), frozenset({"bypasspermissions", "bypass", "yolo"}))
"""Names that vendors have for the same mode."""


TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""How users spell yes and no."""


def choice_of(option: Json, wanted: str) -> str | None:
    """Return the value that the user means: by value, by name, or by another vendor's name
    for it."""
    values = [choice["value"] for choice in option["choices"]]
    if wanted in values or not values:
        return wanted
    plain = _plain(wanted)
    known = [(choice["value"], choice["name"]) for choice in option["choices"]]
    named = [value for value, name in known if plain in (_plain(value), _plain(name))]
    if not named:
        group = next((names for names in ALIKE if plain in names), frozenset[str]())
        named = [value for value in values if _plain(value) in group]
    return named[0] if named else None


def chosen_of(option: Json, wanted: str | bool) -> str | bool | None:
    """Return the same for an option that may be a switch."""
    if isinstance(wanted, bool):
        return wanted
    if isinstance(option["value"], bool) and not option["choices"]:
        return TRUTHS.get(wanted.lower())
    return choice_of(option, wanted)


def lacking(agent: str, name: str, wanted: str, option: Json | None) -> str:
    """Return a message that an agent lacks the chosen value, what it offers, and what it continues
    with."""
    if option is None:
        return f"{agent} has no option {name}: {wanted!r} is not used."
    has = ", ".join(choice["value"] for choice in option["choices"][:LISTED])
    more = ", …" if len(option["choices"]) > LISTED else ""
    now = f" It continues with {option['value']}." if option["value"] else ""
    return f"{agent} has no {name} {wanted!r}. It has: {has}{more}.{now}"


def _plain(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def confirmed(offers: Json, values: Json) -> Json:
    """Return the offers after an agent confirmed values for mode, model or effort, in all places
    that hold them."""
    after = dict(offers)
    for name, value in values.items():
        after["configOptions"] = [
            {**item, "currentValue": value} if _is_meant(item, name) else item
            for item in lenient.mappings(after, "configOptions")
        ]
        if name == "mode":
            after["modes"] = {**lenient.mapping(after, "modes"), "currentModeId": value}
        elif name == "model" and "models" in after:
            after["models"] = {**lenient.mapping(after, "models"), "currentModelId": value}
    return after


def _is_meant(item: Json, name: str) -> bool:
    category = CATEGORY.get(name)
    return item.get("id") == name or (category is not None and item.get("category") == category)


def setting(session: str, option: Json, value: str | bool) -> tuple[str, Json]:
    """Return the request that sets an option: its method and parameters."""
    match option["via"]:
        case "mode":
            return "session/set_mode", {"sessionId": session, "modeId": value}
        case "model":
            return "session/set_model", {"sessionId": session, "modelId": value}
    params: Json = {"sessionId": session, "configId": option["id"], "value": value}
    if isinstance(value, bool):
        params["type"] = "boolean"
    return "session/set_config_option", params


def confirmation(name: str, value: str | bool, result: object) -> Json:
    """Return the update that confirms a setting: with the agent's own list if it sent one."""
    if isinstance(result, dict) and isinstance(result.get("configOptions"), list):
        listed = result["configOptions"]
        return {"sessionUpdate": "config_option_update", "configOptions": listed}
    if name in CATEGORY:
        return {"sessionUpdate": "_session", name: value, "confirmed": True}
    return {"sessionUpdate": "_session", "options": {name: value}, "confirmed": True}


def value_of(options: list[Json], category: str) -> str:
    """Return the current value of the first option of a category, or ""."""
    values = (option["value"] for option in options if option["category"] == category)
    return next((value for value in values if isinstance(value, str)), "")


def _from_config(item: Json) -> Json:
    value = item.get("currentValue")
    return {
        "id": lenient.text(item, "id"),
        "name": lenient.text(item, "name") or lenient.text(item, "id"),
        "category": lenient.text(item, "category"),
        "value": value if isinstance(value, str | bool) else None,
        "choices": _choices(item),
        "via": "config",
    }


def _choices(item: Json) -> list[Json]:
    """Return all choices. They may be grouped one level deep; a group's choices keep their
    place."""
    choices: list[Json] = []
    for entry in lenient.mappings(item, "options"):
        inner = list(lenient.mappings(entry, "options"))
        choices.extend(_choice(each, "value") for each in inner or [entry])
    return choices


def _choice(entry: Json, key: str) -> Json:
    value = lenient.text(entry, key)
    return {
        "value": value,
        "name": lenient.text(entry, "name") or value,
        "description": lenient.text(entry, "description"),
    }


def _from_legacy(name: str, given: Json) -> Json:
    """Parse `modes` or `models`: {currentModeId, availableModes: [{id, …}]}, and the like."""
    title, key = name.capitalize(), "id" if name == "mode" else "modelId"
    listed = lenient.mappings(given, f"available{title}s")
    return {
        "id": name,
        "name": title,
        "category": name,
        "value": lenient.text(given, f"current{title}Id") or None,
        "choices": [_choice(entry, key) for entry in listed],
        "via": name,
    }
