"""I14: the OpenAPI document is true: whatever a client sends that it allows, or forbids, the daemon
answers as it says, and never with a fault of its own."""

import json
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.schemas import BaseSchema

from tests.daemon.served import Served

SKIPPED = frozenset({"readStream", "deleteSession", "revokeDevice"})
"""Tried beside it: the first does not end, the others would take away what the rest is tried on."""
REAL = 0.7
"""How often a request is about the session that there is."""


class Tried:
    """A daemon, its document, and a session to try things on."""

    def __init__(self, served: Served) -> None:
        self.served = served
        document = served.ask("GET", "/api/openapi.json").json()
        self.session = served.create(title="tried", prompt="")
        self.schema: BaseSchema = schemathesis.openapi.from_dict(document)
        self.schema.config.update(base_url=served.address)
        self.schema.config.generation.update(with_security_parameters=False)

    def operations(self) -> list[Any]:
        return [each.ok() for each in self.schema.get_all_operations()]


@pytest.fixture(scope="module")
def tried(served: Served) -> Tried:
    return Tried(served)


def one(tried: Tried, examples: int, modes: list[GenerationMode]) -> None:
    for operation in tried.operations():
        if operation.definition.raw["operationId"] in SKIPPED:
            continue
        _try(tried, operation, examples, modes)


def _try(tried: Tried, operation: Any, examples: int, modes: list[GenerationMode]) -> None:
    headers = {"Authorization": f"Bearer {tried.served.token}"}
    for mode in modes:

        @settings(
            max_examples=examples,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            deadline=None,
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode), real=st.floats(0, 1))
        def holds(case: Case, real: float) -> None:
            if real < REAL and _is_free(case):
                case.path_parameters["session"] = tried.session
            case.call_and_validate(headers=headers)

        with suppress(Unsatisfiable):  # there is nothing that could be wrong about it
            holds()


def _is_free(case: Case) -> bool:
    """Whether it is about any session: the one that there is fits as well."""
    assert case.meta is not None
    path = case.meta.components.get(ParameterLocation.PATH)
    fits = path is not None and path.mode is GenerationMode.POSITIVE
    return fits and "session" in case.path_parameters


def test_I14_the_document_is_openapi_3_1_and_complete(tried: Tried) -> None:
    document = tried.served.ask("GET", "/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            place = f"{method} {path}"
            assert said["operationId"].isalnum(), place
            assert said["tags"], place
            assert said["description"], place
            for status, answer in said["responses"].items():
                for kind in answer.get("content", {}).values():
                    assert kind.get("schema"), f"{place} {status} has an empty schema"
    assert "HTTPValidationError" not in json.dumps(document)


def test_I14_the_document_is_true(tried: Tried) -> None:
    one(tried, 3, [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])


@pytest.mark.long
def test_I14_the_document_is_true_of_many_requests(tried: Tried) -> None:
    one(tried, 150, [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
