"""The key bindings of the terminal interface, by the place where each works, and how `[keys]` in
config.toml changes them. They are in core so that a mistake is reported with its line.

A key in config.toml wins: an action that had it in the same place loses it."""

import unicodedata
from collections.abc import Iterable, Mapping


def _table(text: str) -> dict[str, dict[str, str]]:
    """Parse lines of `place: action=key action=key,key`; an indented one continues a line."""
    lines = text.replace("\n    ", " ").strip().split("\n")
    rows = [(place, pairs.split()) for place, _, pairs in (line.partition(": ") for line in lines)]
    return {place: dict(pair.split("=", 1) for pair in pairs) for place, pairs in rows}


OVER_WINDOWS, EVERYWHERE, WINDOW = _table("""
over windows: help=f1 quit=ctrl+q theme=f5
everywhere: turn.cancel=escape ask.next=f2 session.list=ctrl+b session.new=ctrl+n
    session.next=alt+down,f4 session.back=alt+up,f3 settings=f6 agents=f7 session.options=f8
    confirm=f9 servers=f10 find=ctrl+f palette=ctrl+p panel=f12 quit.letter=q session.new.letter=n
    help.letter=question_mark
    critic.1=1 critic.2=2 critic.3=3 focus.next=tab focus.back=shift+tab
window: window.back=escape
""").values()
SCREEN = _table("""
writing: composer.send=enter composer.queue=alt+enter,ctrl+l composer.newline=shift+enter,ctrl+j
    composer.clear=ctrl+c past.older=up past.newer=down past.search=ctrl+r composer.editor=ctrl+g
    composer.attach=ctrl+o composer.paste=ctrl+v composer.detach=backspace queue.focus=ctrl+t
    shell.give=ctrl+s composer.complete=tab
suggestions: suggestion.next=down suggestion.back=up suggestion.take=tab suggestion.do=enter
    suggestion.close=escape
queue: queue.up=up,k queue.down=down,j queue.edit=e,enter queue.earlier=K,shift+up
    queue.later=J,shift+down queue.remove=x,delete queue.send=s
transcript: block.up=up,k block.down=down,j block.open=enter,space block.copy=c block.edit=e
    block.show=o block.view=v block.split=s
    ask.allow=y ask.always=a ask.deny=n ask.reject=r ask.defer=d
    ask.amend=m ask.explain=e ask.alike=Y ask.alike_deny=N ask.qr=q
    ask.fill=f ask.decline=x ask.all=p ask.risky=w ask.more=question_mark ask.confirm=y
    ask.option1=1 ask.option2=2 ask.option3=3 ask.option4=4 ask.option5=5 ask.option6=6
    ask.option7=7 ask.option8=8 ask.option9=9 view.start=home,g view.end=end,G
fleet: fleet.up=up,k fleet.down=down,j fleet.open=enter,space fleet.filter=slash
    fleet.rename=R fleet.archive=A fleet.menu=full_stop fleet.stop=S
    fleet.delete=D,delete fleet.restore=U fleet.compact=v
find: find.older=up find.newer=down find.close=escape
panel: panel.up=up,k panel.down=down,j panel.open=enter,space
""")
WINDOWS = _table("""
sure: sure.yes=y,enter
leaving: leave.yes=enter,y,q,ctrl+q,ctrl+c leave.no=n
keys: keys.up=up keys.down=down keys.pageup=pageup keys.pagedown=pagedown
whole: whole.up=up,k whole.down=down,j whole.pageup=pageup whole.pagedown=pagedown,space
    whole.start=home,g whole.end=end,G
picture: picture.next=right picture.back=left picture.show=o
search: search.take=enter search.up=up search.down=down,ctrl+r
line: line.take=enter
form: form.send=ctrl+s form.next=tab form.back=shift+tab
model: model.test=ctrl+t model.keep=ctrl+o
models: models.edit=enter models.new=n models.default=d models.test=t models.remove=x
choice: choice.take=enter
preview: preview.pageup=pageup preview.pagedown=pagedown
settings: settings.open=enter settings.find=slash
agents: agents.take=enter agents.default=d agents.copy=c agents.login=l
install: install.run=enter,y install.cancel=ctrl+c
servers: servers.edit=enter servers.new=n servers.toggle=space servers.test=t servers.remove=x
    servers.login=l
rules: rules.edit=enter rules.new=n rules.earlier=K,shift+up rules.later=J,shift+down
    rules.remove=x
""")
WINDOWS["model"] |= WINDOWS["form"]
WINDOWS["agreement"] = WINDOWS["sure"] | WINDOWS["preview"]
WINDOWS["preview"] |= WINDOWS["choice"]
PLACES = {
    **{place: {**OVER_WINDOWS, **EVERYWHERE, **keys} for place, keys in SCREEN.items()},
    **{place: {**OVER_WINDOWS, **WINDOW, **keys} for place, keys in WINDOWS.items()},
}
"""Every place with all keys that work there."""

DEFAULTS = {name: key for keys in PLACES.values() for name, key in keys.items()}
KEY_IDS = tuple(DEFAULTS)

NAMED = frozenset(
    {
        *("enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end"),
        *("pageup", "pagedown", "up", "down", "left", "right", "slash", "backslash", "at"),
        *("minus", "plus", "underscore", *(f"f{number}" for number in range(1, 25))),
    }
)
CALLED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")


class NoKey(Exception):
    """The text is not a key; it is the message."""


def listed(written: str) -> list[str]:
    """Parse keys as written in config.toml; return each as the screen names it. Raises NoKey."""
    return list(dict.fromkeys(_key(each.strip()) for each in written.split(",")))


def _key(written: str) -> str:
    *before, last = ["+"] if written == "+" else written.split("+")
    held = {word.strip().lower() for word in before}
    last = last.strip()
    if not held <= set(MODIFIERS) or not last:
        raise NoKey(written)
    name = _character(last) if len(last) == 1 else _named(last.lower(), written)
    if len(name) == 1 and held:
        name, held = (name.upper(), set()) if held == {"shift"} else (name.lower(), held)
    return "+".join([*sorted(held), name])


def _character(character: str) -> str:
    if character.isalnum():
        return character
    try:
        name = unicodedata.name(character)
    except ValueError:
        raise NoKey(character) from None
    called = name.lower().replace("-", "_").replace(" ", "_")
    return CALLED.get(called, called)


def _named(name: str, written: str) -> str:
    if name in NAMED:
        return name
    for spelled in (name.replace("_", " "), name.replace("_", "-")):
        try:
            return _character(unicodedata.lookup(spelled))
        except KeyError:
            continue
    raise NoKey(written)


def meet(one: str, other: str) -> bool:
    """Return whether both actions work in the same place."""
    return any(one in keys and other in keys for keys in PLACES.values())


def clash(chosen: Mapping[str, str], name: str) -> tuple[str, str] | None:
    """Return another chosen action that shares a key with this one, and that key. Keys that both
    have by default do not count."""
    mine = listed(chosen[name])
    for other in chosen:
        if other == name or not meet(name, other):
            continue
        shared = set(_default(name)) & set(_default(other))
        for key in listed(chosen[other]):
            if key in mine and key not in shared:
                return other, key
    return None


def settled(chosen: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of every action that changes: the chosen ones, and those that lose a key to
    them."""
    own = {name: listed(written) for name, written in chosen.items()}
    new = {name: taken(name, keys) for name, keys in own.items()}
    changed: dict[str, list[str]] = dict(own)
    for name in DEFAULTS:
        before = _default(name)
        if name in own:
            continue
        lost = {key for other, keys in new.items() if meet(name, other) for key in keys}
        if lost & set(before):
            changed[name] = [key for key in before if key not in lost]
    return changed


def taken(name: str, keys: Iterable[str]) -> list[str]:
    """Return those of the keys that the action does not have by default."""
    return [key for key in keys if key not in _default(name)]


def _default(name: str) -> list[str]:
    return DEFAULTS[name].split(",")
