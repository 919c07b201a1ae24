"""What redaction can do, and where it ends: secrets as they are written, also in JSON and with
colour codes between their letters."""

import json

import pytest

from rookery.models.credentials import is_secret_name, of_environment
from rookery.models.secrets import HIDDEN, Redactor, secrets_in

KEY = "sk-live-0123456789abcdef"
CODES = ["\x1b[31m", "\x1b[0m", "\x1b[1;38;5;196m", "\x1b[K", "\x1b[38:2:1:2:3m"]


def coloured(every: int) -> str:
    """As grep, a test runner or a pretty printer shows it."""
    parts = [KEY[at : at + every] for at in range(0, len(KEY), every)]
    return "".join(part + CODES[place % len(CODES)] for place, part in enumerate(parts))


@pytest.mark.parametrize("every", [1, 3, 7, 20])
def test_a_secret_with_colour_codes_inside_is_redacted(every: int) -> None:
    known = Redactor([KEY])
    shown = known.text(f"before {coloured(every)} after")
    assert shown.startswith(f"before {HIDDEN}")
    assert shown.endswith(" after")
    assert KEY[-3:] not in shown
    stored = known.text(json.dumps({"text": f"before {coloured(every)} after"}))
    assert KEY[-3:] not in stored
    assert HIDDEN in json.loads(stored)["text"]


@pytest.mark.parametrize("every", [1, 3, 7, 20])
@pytest.mark.parametrize("size", [1, 2, 5, 17, 100])
def test_a_secret_arriving_bit_by_bit_is_redacted(every: int, size: int) -> None:
    pieces = Redactor([KEY]).in_pieces()
    text = f"before {coloured(every)} after {KEY} end"
    told = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size))
    told += pieces.flush()
    assert told.count(HIDDEN) == 2
    assert KEY[-3:] not in told
    assert told.startswith(f"before {HIDDEN}")
    assert told.endswith(f" after {HIDDEN} end")


def test_text_without_secrets_is_unchanged() -> None:
    known, pieces = Redactor([KEY]), Redactor([KEY]).in_pieces()
    text = "a \x1b[31mred\x1b[0m word, C:\\users\\x1, and sk-live as a beginning only\n"
    assert known.text(text) == text
    assert pieces.feed(text) + pieces.flush() == text


def test_encoded_secrets_are_not_found_as_the_docs_say() -> None:
    """docs/agent.md: in another encoding, or over several lines, it is not known."""
    import base64

    known = Redactor([KEY])
    for otherwise in (base64.b64encode(KEY.encode()).decode(), KEY[:9] + "\n" + KEY[9:], KEY[::-1]):
        assert known.text(otherwise) == otherwise


SERVERS = {
    "remote": {
        "url": "https://me:pa55-of-it@host.example/s/abcdefgh1234567890XYZab/mcp"
        "?token=query%2Ftoken-1&page=2#access_token=fragment-1",
        "headers": {"Authorization": "Bearer bearer-token-1", "X-Api-Key": "header-key-1"},
    },
    "basic": {
        "url": "https://host.example",
        "headers": {"Authorization": "Basic bWU6YmFzaWMtcHctMQ=="},
    },
    "local": {
        "command": "npx",
        "args": [
            *("-y", "server", "--api-key", "argument-1", "--token=argument-2"),
            *("-H", "Authorization: Bearer argument-3", "--header=X-Api-Key: argument-4"),
            *("-e", "GITHUB_TOKEN=argument-5", "https://host.example?api_key=argument-6"),
            *("--file", "/etc/hosts", "--port", "123456", "--token", "${LATER}"),
        ],
        "env": {
            "PGPASSWORD": "postgres-pw-1",
            "MYTOKEN": "my-token-1",
            "DATABASE_URL": "postgres://me:database-pw-1@host.example:5432/db",
            "PATH": "/usr/local/bin:/usr/bin",
        },
    },
    "shell": {"command": "sh", "args": ["-c", "exec tool --api-key inner-key-1 --page 123456"]},
}


def test_secrets_are_known_by_where_they_stand() -> None:
    """In headers, addresses, variables and arguments: each alone, whoever says it later."""
    known = Redactor(secrets_in(SERVERS))
    words = [
        *("bearer-token-1", "header-key-1", "pa55-of-it", "abcdefgh1234567890XYZab"),
        *("query%2Ftoken-1", "query/token-1", "fragment-1", "basic-pw-1", "bWU6YmFzaWMtcHctMQ=="),
        *(f"argument-{number}" for number in range(1, 7)),
        *("postgres-pw-1", "my-token-1", "database-pw-1", "inner-key-1"),
    ]
    for word in words:
        assert known.text(f"it is {word}.") == f"it is {HIDDEN}.", word
    plain = "https://host.example:5432/db -y --file /etc/hosts 123456 /usr/bin npx ${LATER} server"
    assert known.text(plain) == plain


@pytest.mark.parametrize(
    "name", ["PGPASSWORD", "MYTOKEN", "apiKey", "MYSQL_PWD", "DB_PASS", "clientSecret", "Cookie"]
)
def test_secret_names_are_known_without_separators(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PWD", "OLDPWD", "TOKEN_FILE", "SSH_AUTH_SOCK", "SSH_ASKPASS", "PASSWORD_STORE_DIR"),
        *("TOKENIZERS_PARALLELISM", "max_output_tokens", "turkey", "bypass", "COMPASS"),
    ],
)
def test_names_that_only_look_like_secrets_are_kept(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_in_the_environment_are_redacted() -> None:
    """By their names and in addresses; not what stands in every file: a path, a number, a word."""
    key = "-----BEGIN KEY-----\nMIIEabcdefghijklmnopqrst\n-----END KEY-----"
    found = of_environment(
        {
            "PGPASSWORD": "hunter2",
            "MYTOKEN": "tok-1",
            "DEPLOY_PRIVATE_KEY": key,
            "DATABASE_URL": "mysql://me:in-an-address@host/db",
            "HOME": "/home/me",
            "SSH_KEY": "/home/me/.ssh/id",
            "DB_PASSWORD": "postgres",
            "API_KEY": "12345678",
        }
    )
    assert found == {"hunter2", "tok-1", "MIIEabcdefghijklmnopqrst", "in-an-address"}
