"""Crow's agent for draft 2 of the protocol."""

from tools.vendors.fleet import crow

WORDS_ONLY = "it tells a model's error in its answer alone."

VENDOR = crow.VENDOR._replace(
    name="crow-acp2",
    command=("crow-cli", "acp2"),
    faults={**crow.VENDOR.faults, "limit": WORDS_ONLY, "switch": WORDS_ONLY},
)
