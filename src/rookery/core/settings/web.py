"""The table [web] of config.toml: what Rookery's own agent reads of the web."""

from typing import NamedTuple

from rookery.core.limits import AT_ONCE, setting, settings_of

NONE, BRAVE, TAVILY, SEARXNG = PROVIDERS = ("none", "brave", "tavily", "searxng")
CHOICES = (
    (NONE, "None", ""),
    (BRAVE, "Brave Search", "key from https://brave.com/search/api"),
    (TAVILY, "Tavily", "key from https://tavily.com"),
    (SEARXNG, "SearXNG", "an instance of your own, without a key"),
)
NEW = "for sessions started from then on"


class Web(NamedTuple):
    fetch: bool = setting(
        True,
        "Web pages: let Rookery's own agent read web pages (web_fetch)",
        more="Each page is asked about as a command with curl would be.",
        effect=NEW,
        strict_first=(False, True),
    )
    allow: str = setting(
        "",
        "Private hosts: hosts on this machine or a private network that pages may come from",
        unit="names or addresses, each perhaps with a :port; * stands for anything",
        example='"localhost:* wiki.internal"',
        effect=AT_ONCE,
        runs=True,
    )
    search: str = setting(
        NONE,
        "Web search: who searches the web for Rookery's own agent (web_search)",
        choices=CHOICES,
        more="Brave and Tavily need search_key, SearXNG needs search_url.",
        effect=NEW,
        strict_first=PROVIDERS,
    )
    search_key: str = setting(
        "", "Search key: the search provider's API key", unit="text", secret=True
    )
    search_url: str = setting(
        "",
        "Search address: the search provider's address, if another than its own",
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
