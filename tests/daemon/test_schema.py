"""The OpenAPI document is true: whatever a client sends that it allows, or forbids, the daemon
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

ENDLESS = "readStream"
"""Only wrong requests are tried: the answer to a right one does not end (see test_stream.py)."""
TAKEN_AWAY = {"deleteSession": "session", "revokeDevice": "device"}
"""Each gets one of its own, so that the rest still has what it is tried on."""
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

    def new(self, kind: str) -> str:
        """A session or a device to take away."""
        if kind == "session":
            return self.served.create(title="taken away", prompt="")
        known = self._devices()
        link = self.served.own("POST", "/api/devices/link", {}).json()["link"]
        self.served.log_in(code=link.rpartition("=")[2])
        (device,) = self._devices() - known
        return device

    def _devices(self) -> set[str]:
        found = self.served.own("GET", "/api/devices").json()
        return {str(device["id"]) for device in found}

    def operations(self) -> list[Any]:
        return [each.ok() for each in self.schema.get_all_operations()]


@pytest.fixture(scope="module")
def tried(served: Served) -> Tried:
    return Tried(served)


def one(tried: Tried, examples: int, modes: list[GenerationMode]) -> None:
    for operation in tried.operations():
        endless = operation.definition.raw["operationId"] == ENDLESS
        _try(tried, operation, examples, [GenerationMode.NEGATIVE] if endless else modes)


def _try(tried: Tried, operation: Any, examples: int, modes: list[GenerationMode]) -> None:
    headers = {"Authorization": f"Bearer {tried.served.token}"}
    taken = TAKEN_AWAY.get(operation.definition.raw["operationId"], "")
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
            name = taken or "session"
            if real < REAL and _is_free(case, name):
                case.path_parameters[name] = tried.new(taken) if taken else tried.session
            case.call_and_validate(headers=headers, timeout=120)

        with suppress(Unsatisfiable):  # there is nothing that could be wrong about it
            holds()


def _is_free(case: Case, name: str) -> bool:
    """Whether it is about any session, or device: the one that there is fits as well."""
    assert case.meta is not None
    path = case.meta.components.get(ParameterLocation.PATH)
    fits = path is not None and path.mode is GenerationMode.POSITIVE
    return fits and name in case.path_parameters


def test_the_document_is_openapi_3_1_and_complete(tried: Tried) -> None:
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


def test_every_integer_is_bounded_and_may_be_written_1_0(tried: Tried) -> None:
    document = tried.served.ask("GET", "/api/openapi.json").json()
    asked = [
        parameter["schema"]
        for methods in document["paths"].values()
        for each in methods.values()
        for parameter in each.get("parameters", ())
    ]
    bodies = {
        name: shape
        for name, shape in document["components"]["schemas"].items()
        if shape.get("additionalProperties") is False  # what a request carries
    }
    for place in _integers([asked, bodies]):
        assert place.get("maximum", 2**64) <= 2**53, place
    for path, body in (("seen", {"seq": 1.0}), ("fork", {"turn": 0.0})):
        answer = tried.served.ask("POST", f"/api/sessions/{tried.session}/{path}", body)
        assert answer.status != 422, answer.body
    command = {"do": "rewind", "turn": 1.0}
    answer = tried.served.ask("POST", f"/api/sessions/{tried.session}/commands", command)
    assert answer.status != 422, answer.body


def _integers(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for each in value for found in _integers(each)]
    if not isinstance(value, dict):
        return []
    own = [value] if value.get("type") == "integer" else []
    return own + [found for each in value.values() for found in _integers(each)]


def test_a_repeated_parameter_is_refused(tried: Tried) -> None:
    """Found with 150 requests each: the last one counted, whatever the others were."""
    for path in ("document?before=nonsense&before=0", "events?after=0&after=0"):
        answer = tried.served.ask("GET", f"/api/sessions/{tried.session}/{path}")
        assert (answer.status, answer.json()["error"]) == (422, "invalid")


def test_the_daemon_answers_as_the_document_says(tried: Tried) -> None:
    one(tried, 1, [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_daemon_answers_many_requests_as_the_document_says(tried: Tried) -> None:
    one(tried, 150, [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
