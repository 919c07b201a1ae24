"""The table [web] of config.toml: what Rookery's own agent reads of the web."""

from typing import NamedTuple

from rookery.core.limits import AT_ONCE, setting, settings_of

NONE, BRAVE, TAVILY, SEARXNG = PROVIDERS = ("none", "brave", "tavily", "searxng")
NEW = "for sessions started from then on"


class Web(NamedTuple):
    fetch: bool = setting(
        True,
        "let Rookery's own agent read web pages (web_fetch)",
        more="Each page is asked about as a command with curl would be.",
        effect=NEW,
        strict_first=(False, True),
    )
    allow: str = setting(
        "",
        "hosts that it may read although they are on this machine or a private network",
        unit="names or addresses, each perhaps with a :port; * stands for anything",
        example='"localhost:* wiki.internal"',
        effect=AT_ONCE,
        runs=True,
    )
    search: str = setting(
        NONE,
        "who searches the web for it (web_search)",
        PROVIDERS,
        more="brave and tavily need search_key, searxng needs search_url.",
        effect=NEW,
        strict_first=PROVIDERS,
    )
    search_key: str = setting("", "the search provider's API key", unit="text", secret=True)
    search_url: str = setting(
        "",
        "the search provider's address, if another than its own",
        unit="an address: https://… or http://…",
        example='"http://localhost:8888"',
        runs=True,
    )

    @property
    def lacking(self) -> str:
        """The sentence that tells the user what a search still needs; "" if nothing."""
        if self.search in (BRAVE, TAVILY) and not self.search_key:
            return f"{self.search} needs a key: rookery config set web.search_key"
        if self.search == SEARXNG and not self.search_url:
            return "searxng needs an address: rookery config set web.search_url"
        return ""

    @property
    def searches(self) -> bool:
        return self.search != NONE and not self.lacking


WEB = settings_of(Web, "web")
