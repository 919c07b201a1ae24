"""Which hosts the proxy of a sandbox connects to."""

from ipaddress import ip_address

import pytest

from rookery.sandbox.proxy import allowed, entries, may_reach

KNOWN = entries(
    "api.example.com *.example.org, git.example.net:22 10.0.0.5 [::1]:8080 localhost:3000"
)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api.example.com", 443),
        ("API.example.com.", 80),
        ("a.example.org", 443),
        ("a.b.example.org", 443),
        ("git.example.net", 22),
        ("10.0.0.5", 443),
        ("[::1]", 8080),
        ("localhost", 3000),
    ],
)
def test_what_is_listed(host: str, port: int) -> None:
    assert allowed(KNOWN, host, port)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api.example.com", 22),
        ("example.org", 443),
        ("evilexample.org", 443),
        ("api.example.com.evil.net", 443),
        ("git.example.net", 443),
        ("10.0.0.6", 443),
        ("127.0.0.1", 3000),
        ("0x7f000001", 443),
        ("[::ffff:10.0.0.5]", 443),
        ("", 443),
    ],
)
def test_what_is_not(host: str, port: int) -> None:
    assert allowed(KNOWN, host, port) is None


def test_a_listed_name_does_not_lead_to_this_machine() -> None:
    """A name whose owner lets it resolve to loopback, or to a cloud's metadata service."""
    [name, *_, here] = entries("api.example.com localhost")
    for address in (
        "127.0.0.1",
        "::1",
        "169.254.169.254",
        "::ffff:127.0.0.1",
        "0.0.0.0",  # noqa: S104 - asked for, not bound
        "fe80::1",
    ):
        assert not may_reach(name, ip_address(address)), address
        assert may_reach(here, ip_address(address))
    assert may_reach(name, ip_address("93.184.216.34"))
    assert may_reach(name, ip_address("10.1.2.3"))
