"""The table [notify] of config.toml: which notifications the daemon sends, and where to."""

from typing import NamedTuple

from rookery.core.limits import setting, settings_of

SHAPES = ("json", "ntfy", "slack")
EFFECT = "at once, for everything that the daemon sends from then on"


class Notify(NamedTuple):
    asks: bool = setting(True, "Questions: notify when a session needs you", effect=EFFECT)
    ends: bool = setting(
        True, "Finished turns: notify when a turn is done and you have not seen it", effect=EFFECT
    )
    failures: bool = setting(True, "Failed turns: notify when a turn failed", effect=EFFECT)
    desktop: bool = setting(
        False,
        "notifications on this machine's desktop",
        more="With notify-send on Linux and osascript on macOS.",
        effect=EFFECT,
    )
    webhook: str = setting(
        "",
        "address to which notifications are posted",
        unit="an address: https://… or http://…",
        more="{session} in it stands for the session's id.",
        example='"https://ntfy.sh/my-topic"',
        effect=EFFECT,
        runs=True,
    )
    webhook_shape: str = setting(
        "json",
        "Webhook format: what is posted",
        choices=(("json", "Rookery's own JSON", ""), ("ntfy", "ntfy", ""), ("slack", "Slack", "")),
        effect=EFFECT,
    )
    webhook_secret: str = setting(
        "", "key that signs what is posted", unit="text", effect=EFFECT, secret=True
    )
    push: bool = setting(True, "Web Push to the browsers that subscribed", effect=EFFECT)
    push_contact: str = setting(
        "mailto:rookery@example.org",
        "how a push service can reach you",
        unit="mailto:… or https://…",
        effect=EFFECT,
    )
    push_private: bool = setting(
        False,
        "Private networks: also push to this machine and private networks",
        effect=EFFECT,
        strict_first=(False, True),
    )
    most: int = setting(
        10,
        "Limit: notifications per minute; one summary replaces the rest",
        (1.0, 600.0),
        unit="notifications",
        effect=EFFECT,
    )


NOTIFY = settings_of(Notify, "notify")
