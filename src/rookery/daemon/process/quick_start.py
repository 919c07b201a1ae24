"""All patches of the daemon's libraries: they skip work that FastAPI and pydantic do at import and
that no request needs, half a second less to wait for a daemon. Call it before FastAPI is imported.

A test fails for each patch that a release makes needless."""

import sys
import warnings
from functools import cached_property
from typing import Any

from pydantic import BaseModel
from pydantic.plugin import _loader
from pydantic.warnings import UnsupportedFieldAttributeWarning

NEEDLESS = ("email_validator", "pydantic.v1")
"""Loaded by FastAPI where they are installed; it does without."""


def prepare() -> None:
    absent: dict[str, Any] = dict.fromkeys(NEEDLESS)  # None: not to be found
    sys.modules.update(absent)
    # The models of OpenAPI, a hundred, are for who reads the document alone.
    BaseModel.model_config["defer_build"] = True
    # FastAPI turns this warning off while it builds an adapter; those that are deferred are built
    # after that.
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
    # Else all installed packages are looked through for plugins.
    _loader._plugins = {}
    _build_adapters_later()


def _build_adapters_later() -> None:
    """Build the two hundred adapters, one for each parameter and response of a route, lazily at
    first use."""
    from fastapi._compat.v2 import ModelField

    name, build = "_type_adapter", ModelField.__post_init__

    def built(field: Any) -> Any:
        build(field)
        return vars(field)[name]

    later = cached_property(built)
    later.__set_name__(ModelField, name)
    setattr(ModelField, name, later)
    setattr(ModelField, "__post_init__", lambda _: None)  # noqa: B010 - mypy takes it as fixed
