"""Agents that the public registry offers as programs for this platform: what is known of each, and
its download.

    $ROOKERY_HOME/agent-downloads.json   what `rookery agents import` read from the registry
    $ROOKERY_HOME/agent-digests.json     the digest of each version when it was first installed"""

import json
import os
import platform
from collections.abc import Callable
from hashlib import sha256
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from rookery.agents.archives import CHUNK, MAX_BYTES
from rookery.core.json import Json, lenient

OFFERS, DIGESTS = "agent-downloads.json", "agent-digests.json"
TIMEOUT = 60.0
"""Seconds without a byte."""
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


class DownloadError(Exception):
    """There is nothing to install; the message says why and what to do."""


class Download(NamedTuple):
    """An agent's program, as the registry offers it for this platform."""

    version: str
    archive: str
    program: str
    """Its path in the archive."""
    sha256: str = ""
    """"": the registry has none."""


def this_platform() -> str:
    """Return this platform as the registry names it."""
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), platform.system())
    machine = platform.machine().lower()
    return f"{system}-{MACHINES.get(machine, machine)}"


def link_of(name: str) -> str:
    """Return the name of an agent's program in this home: never that of another program that might
    be looked up."""
    return f"acp-{name}"


def fault_of(download: Download) -> str:
    """Return why it cannot be installed; "" if it can."""
    parts = urlsplit(download.archive)
    if parts.scheme != "https" or not parts.hostname:
        return f"its archive is not an https address: {download.archive[:200]}"
    steps = download.program.removeprefix("./").split("/")
    if not download.program or {"", ".", ".."} & {*steps} or "\\" in download.program:
        return f"its program is not a path in the archive: {download.program[:200]!r}"
    wrong = download.sha256 and (len(download.sha256) != 64 or not download.sha256.isalnum())
    return f"its checksum is not one of SHA-256: {download.sha256[:80]}" if wrong else ""


# --- what is kept --------------------------------------------------------------------------------


def offered(home: str, name: str) -> Download | None:
    """Return what the registry offers under a name, if it was imported."""
    row = lenient.mapping(_read(home, OFFERS), name)
    download = Download(*(lenient.text(row, key) for key in Download._fields))
    return download if row and not fault_of(download) else None


def keep_offers(home: str, offers: dict[str, Download]) -> None:
    known = _read(home, OFFERS) | {name: each._asdict() for name, each in offers.items()}
    _write(home, OFFERS, known)


def check_digest(home: str, name: str, download: Download, digest: str) -> None:
    """Raise DownloadError if the digest is not what the registry says, or differs from the first
    installation's."""
    if download.sha256:
        if download.sha256.lower() != digest:
            raise DownloadError(
                f"{download.archive} does not have the checksum that the registry names: it is "
                f"sha256:{digest}, and should be sha256:{download.sha256.lower()}."
            )
        return
    before = digest_of(home, name, download)
    if before and before != digest:
        raise DownloadError(
            f"{name} {download.version} is not what it was when it was first installed: it is "
            f"sha256:{digest}, and was sha256:{before}. Ask who publishes it. To accept it, remove "
            f'"{_key(name, download)}" from {os.path.join(home, DIGESTS)}, and try again.'
        )


def digest_of(home: str, name: str, download: Download) -> str:
    """Return the digest at the first installation; "" if there was none."""
    return lenient.text(_read(home, DIGESTS), _key(name, download))


def keep_digest(home: str, name: str, download: Download, digest: str) -> None:
    """Save a digest, to compare it with every later installation, even after the agent was
    removed."""
    _write(home, DIGESTS, _read(home, DIGESTS) | {_key(name, download): digest})


def _key(name: str, download: Download) -> str:
    return f"{name} {download.version or download.archive} {this_platform()}"


def _read(home: str, name: str) -> Json:
    try:
        with open(os.path.join(home, name), encoding="utf-8") as file:
            table = json.load(file)
    except (OSError, ValueError):
        return {}
    return table if isinstance(table, dict) else {}


def _write(home: str, name: str, value: Json) -> None:
    path = os.path.join(home, name)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file, indent=1, sort_keys=True)
    os.replace(temporary, path)


# --- the download --------------------------------------------------------------------------------


def fetch(url: str, file: IO[bytes], progress: Callable[[int, int], object]) -> str:
    """Write what is at an address to a file; return its SHA-256. Every redirect must be to https,
    too. `progress` gets the bytes so far and, if known, the total. Raises DownloadError."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class SecureRedirects(HTTPRedirectHandler):
        def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
            if urlsplit(newurl).scheme != "https":
                raise DownloadError(f"{url} redirects to an address that is not https: {newurl}")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    request = Request(url, headers={"User-Agent": "rookery"})  # noqa: S310 - https: `fault_of`
    digest, size = sha256(), 0
    try:
        with build_opener(SecureRedirects).open(request, timeout=TIMEOUT) as response:
            total = int(response.headers.get("Content-Length") or 0)
            while data := response.read(CHUNK):
                size += len(data)
                if max(size, total) > MAX_BYTES:
                    raise DownloadError(f"{url} is larger than {MAX_BYTES // 1024**2:,} MiB.")
                digest.update(data)
                file.write(data)
                progress(size, total)
    except HTTPError as error:
        raise DownloadError(f"{url} cannot be downloaded: {error.code} {error.reason}.") from None
    except (URLError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DownloadError(f"{url} cannot be downloaded: {reason}.") from None
    except TimeoutError:
        raise DownloadError(f"{url} sent nothing for {TIMEOUT:.0f} s.") from None
    if size < total:
        raise DownloadError(f"{url} broke off after {size:,} of {total:,} bytes.")
    return digest.hexdigest()
