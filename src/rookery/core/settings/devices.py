"""The table [devices] of config.toml: who is logged in to the daemon, and for how long."""

from typing import NamedTuple

from rookery.core.limits import setting, settings_of


class DevicesPolicy(NamedTuple):
    idle_days: int = setting(
        90,
        "log a device out that was not used for this long; 0: never",
        (0.0, 3650.0),
        unit="days",
        more="It can log in again by a link.",
        effect="within a minute, in a running daemon",
    )


DEVICES = settings_of(DevicesPolicy, "devices")
