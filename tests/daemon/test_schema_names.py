"""Names of schemas in the API's document: each is of one shape."""

from collections.abc import Iterator
from typing import Any, get_args, is_typeddict

from rookery.daemon.app import build_api
from rookery.operations.catalogue import results
from rookery.operations.catalogue.finding import every


def shapes(of: Any) -> Iterator[Any]:
    """The typed dictionaries that an annotation names, and those in their fields."""
    of = getattr(of, "__value__", of)
    if is_typeddict(of):
        yield of
        for field in of.__annotations__.values():
            yield from shapes(field)
    elif hasattr(of, "__metadata__"):
        yield from shapes(of.__origin__)
    else:
        for each in get_args(of):
            yield from shapes(each)


def test_no_two_shapes_have_one_name() -> None:
    known = dict[str, Any]()
    made = dict[str, Any]()
    for body in (row.body for row in every() if not row.is_sent):
        results.schema_of(body, made)
        for shape in shapes(body.__annotations__["return"]):
            assert known.setdefault(shape.__name__, shape) is shape, shape.__name__
    schemas = build_api().openapi()["components"]["schemas"]
    assert not [name for name in schemas if "__" in name]
    differing = [name for name, schema in made.items() if schemas[name] != schema]
    assert not differing, "a route has another shape of that name"
