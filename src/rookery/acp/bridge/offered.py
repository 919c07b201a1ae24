"""The modes and options that an editor is offered: the agent's own, how much is asked, and the
choice of the agent itself."""

from rookery.acp.bridge import turns
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.policy import modes
from rookery.core.vendors.options import as_offered
from rookery.wire import choices
from rookery.wire.params import offers

AGENT = "agent"
"""The id of the option that chooses the agent."""

CATEGORY = "_rookery_agent"
CONFIRM_CATEGORY = "_rookery_confirm"


class Offered:
    """The choices that an editor is offered, by the session's header."""

    def __init__(self, client: Json, agents: list[str]) -> None:
        self._booleans = offers(client, "session", "configOptions", "boolean")
        self._turns = turns.are_wanted(client)
        self._agents = agents
        """Those that can be chosen; none: the command line chose."""

    def state(self, header: Header) -> Json:
        """Return the state for the answers to session/new, load, resume and fork."""
        state = choices.state(self.modes(header), self.options(header))
        return state | turns.state(header) if self._turns else state

    def modes(self, header: Header) -> Json | None:
        given = lenient.mapping(as_offered(header), "modes")
        listed = [
            _kept(mode, "id", "name", "description") | _named(header, lenient.text(mode, "id"))
            for mode in lenient.mappings(given, "availableModes")
            if lenient.text(mode, "id")
        ]
        known = [mode["id"] for mode in listed]
        current = header.mode if header.mode in known else given.get("currentModeId")
        if not known:
            return None
        if current not in known:
            current = known[0]
        named = [{"name": mode["id"], **mode} for mode in listed]
        return {"currentModeId": current, "availableModes": named}

    def options(self, header: Header) -> list[Json]:
        """Return the complete list of options."""
        raw = {
            lenient.text(item, "id"): item
            for item in lenient.mappings(as_offered(header), "configOptions")
        }
        listed = []
        for option in header.options:
            if option["via"] == "config":
                listed += self._from_config(option, raw.get(option["id"], {}), header)
            elif option["choices"]:
                listed.append(_select(option, [_listed(each) for each in option["choices"]]))
        if all(option["id"] != modes.OPTION for option in listed):
            listed.append(_confirm(header))
        if self._agents and all(option["id"] != AGENT for option in listed):
            listed.append(self._agent(header))
        return listed

    def changes(self, before: Header, after: Header) -> list[Json]:
        """Return the updates for what has changed."""
        updates: list[Json] = []
        old, new = self.modes(before), self.modes(after)
        if new and (old is None or old["currentModeId"] != new["currentModeId"]):
            updates.append(choices.mode_update(new["currentModeId"]))
        options = self.options(after)
        if options != self.options(before):
            updates.append(choices.options_update(options))
        return updates

    def chooses_agent(self, header: Header, option: str) -> bool:
        own = any(each["id"] == AGENT for each in header.options)
        return option == AGENT and bool(self._agents) and not own

    def _agent(self, header: Header) -> Json:
        names = list(dict.fromkeys([*self._agents, header.agent]))
        option = {"id": AGENT, "name": "Agent", "category": CATEGORY, "value": header.agent}
        return _select(option, [{"value": name, "name": name} for name in names])

    def _from_config(self, option: Json, raw: Json, header: Header) -> list[Json]:
        if isinstance(option["value"], bool):
            switch = _plain(option) | {"type": "boolean", "currentValue": option["value"]}
            return [switch | _kept(raw, "description", "_meta")] if self._booleans else []
        if not isinstance(option["value"], str):
            return []
        is_mode = option["category"] == "mode"
        listed = [
            _group(entry)
            if "group" in entry
            else _listed(entry) | (_named(header, entry.get("value")) if is_mode else {})
            for entry in lenient.mappings(raw, "options")
        ]
        return [_select(option, listed) | _kept(raw, "description", "_meta")]


def _confirm(header: Header) -> Json:
    """Return the option for how much is asked: ours, whatever the agent offers."""
    option = modes.option_of(header) | {"category": CONFIRM_CATEGORY}
    listed = [_listed(each) for each in option["choices"]]
    known = [each["value"] for each in listed]
    if option["value"] not in known:
        listed.append({"value": option["value"], "name": _capital(modes.label(header))})
    return _select(option, listed) | {"description": modes.sentence(header)}


def _named(header: Header, mode: object) -> Json:
    """Return our own name of a mode, if ours means the same."""
    title = modes.title_of(header, mode) if isinstance(mode, str) else ""
    return {"name": title} if title else {}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(option: Json) -> Json:
    plain = {"id": option["id"], "name": option["name"]}
    return plain | ({"category": option["category"]} if option["category"] else {})


def _select(option: Json, listed: list[Json]) -> Json:
    """Return a select option. The current value is always among those that are listed."""
    known = choices.values({"options": listed})
    current = option["value"] if isinstance(option["value"], str) else known[0]
    if current not in known:
        extra = {"value": current, "name": current}
        grouped = bool(listed) and "group" in listed[0]
        more = {"group": "current", "name": "Current", "options": [extra]} if grouped else extra
        listed = [*listed, more]
    return _plain(option) | {"type": "select", "currentValue": current, "options": listed}


def _listed(entry: Json) -> Json:
    value = lenient.text(entry, "value")
    listed = {"value": value, "name": lenient.text(entry, "name") or value}
    more = lenient.text(entry, "description")
    return listed | ({"description": more} if more else {})


def _group(entry: Json) -> Json:
    name = lenient.text(entry, "group")
    inner = [_listed(each) for each in lenient.mappings(entry, "options")]
    return {"group": name, "name": lenient.text(entry, "name") or name, "options": inner}


def _kept(given: Json, *keys: str) -> Json:
    kinds = {"_meta": dict}
    return {key: given[key] for key in keys if isinstance(given.get(key), kinds.get(key, str))}
