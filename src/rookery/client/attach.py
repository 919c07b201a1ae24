"""Attaching files to a prompt: they are read and checked before anything is sent, then staged
beside the session's log, where the worker picks them up. A command carries only their hashes."""

import base64
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.core import units
from rookery.core.agent import pictures
from rookery.core.json import Json, lenient
from rookery.core.json.image_bytes import KINDS, type_of
from rookery.core.refusals import Refused
from rookery.home import paths
from rookery.log.store import Writer

NAME = re.compile(r"[^/\\\x00-\x1f]+")
MAX_FILES = 8
TOO_MANY = f"{{}} files are attached; the limit is {MAX_FILES}."
LARGEST = 10 * 1024 * 1024
TOGETHER = 20 * 1024 * 1024


class Unattachable(Exception):
    """A file cannot be attached to the prompt; the message says which, and why."""


class Attachment(NamedTuple):
    path: str
    data: bytes
    mime: str

    @property
    def is_image(self) -> bool:
        return self.mime in KINDS


def load(files: Sequence[str]) -> list[Attachment]:
    """Read the files whole. Raises Unattachable."""
    if len(files) > MAX_FILES:
        raise Unattachable(TOO_MANY.format(len(files)))
    attachments = [_loaded(path) for path in files]
    if problem := excess(attachments):
        raise Unattachable(problem)
    return attachments


def decoded(files: Sequence[Json]) -> list[Attachment]:
    """Decode files that arrive as a name and data in base64. Raises Refused."""
    attachments = [_decoded(each) for each in files]
    if problem := excess(attachments):
        raise Refused("too_large", problem, "Send less.", "large")
    return attachments


def _decoded(file: Json) -> Attachment:
    name, data = lenient.text(file, "name"), lenient.text(file, "data")
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        content = b""
    if not content or len(name) > 200 or not NAME.fullmatch(name) or len(file) > 2:
        message = "Each attachment needs a `name` without a path and `data` in base64."
        raise Refused("invalid", message, kind="usage")
    if len(content) > LARGEST:
        message = f"{name!r} is larger than {LARGEST // 1024 // 1024} MiB."
        raise Refused("too_large", message, "Send less.", "large")
    return Attachment(name, content, mime_of(content, name))


def excess(attachments: Sequence[Attachment]) -> str:
    """Return why the attachments cannot go with one prompt, or "" if they can."""
    size = sum(len(each.data) for each in attachments)
    if len(attachments) > MAX_FILES:
        return TOO_MANY.format(len(attachments))
    if size > TOGETHER:
        return f"The files have {units.size(size)} together; the limit is {units.size(TOGETHER)}."
    return ""


def stage(directory: str, attachments: Sequence[Attachment]) -> list[Json]:
    """Copy the bytes into a session's directory and return the content blocks that refer to
    them."""
    return [_staged(directory, each) for each in attachments]


def lay(directory: str, data: bytes) -> str:
    """Write bytes to where the worker looks for them; return the name that a block refers to them
    by."""
    name = hashlib.sha256(data).hexdigest()
    place = os.path.join(directory, paths.STAGED)
    paths.make_private(place)
    paths.write_atomic(os.path.join(place, name), data)
    return name


def taken_up(directory: str, writer: Writer, blocks: Sequence[Json]) -> list[Json]:
    """Return the blocks of a prompt with the staged files stored as blobs of the log. For the
    writer of the log. Raises ValueError, and LogError if the disk is full."""
    return [_taken_up(directory, writer, block) for block in blocks]


def _taken_up(directory: str, writer: Writer, block: Json) -> Json:
    resource = lenient.mapping(block, "resource")
    staged = lenient.text(block, "staged") or lenient.text(resource, "staged")
    if not staged:
        return pictures.kept_block(block, writer.put_blob)
    data = _bytes(directory, writer, staged)
    blob = writer.put_blob(data)
    with suppress(OSError):  # if it is sent again, it is in the log
        os.unlink(os.path.join(directory, paths.STAGED, staged))
    rest = {key: value for key, value in (resource or block).items() if key != "staged"}
    rest |= {"kept" if resource else "blob": blob} | pictures.about(data, image=not resource)
    return {**block, "resource": rest} if resource else rest


def _bytes(directory: str, writer: Writer, name: str) -> bytes:
    if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise ValueError("An attachment must be named by the hash of its bytes.")
    try:
        with open(os.path.join(directory, paths.STAGED, name), "rb") as file:
            data = file.read()
    except OSError:
        blob = writer.blob(name)
        if blob is None:
            raise ValueError("An attachment of this prompt is missing.") from None
        return blob
    if hashlib.sha256(data).hexdigest() != name:
        raise ValueError("An attachment of this prompt is damaged.")
    return data


def _staged(directory: str, attachment: Attachment) -> Json:
    name = lay(directory, attachment.data)
    if attachment.is_image:
        shown = os.path.basename(attachment.path)
        return {"type": "image", "mimeType": attachment.mime, "staged": name, "name": shown}
    from urllib.parse import quote

    scheme = "file://" if os.path.isabs(attachment.path) else "attachment:"
    uri = scheme + quote(os.fsencode(attachment.path))
    resource = {"uri": uri, "mimeType": attachment.mime, "staged": name}
    return {"type": "resource", "resource": resource}


def _loaded(path: str) -> Attachment:
    whole = os.path.abspath(path)
    try:
        # Without blocking: a pipe that lies there is refused, not waited for.
        file = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise Unattachable(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise Unattachable(f"{path}: not a regular file.")
        if status.st_size > LARGEST:
            size = f"{units.size(status.st_size)}; the limit is {units.size(LARGEST)}"
            raise Unattachable(f"{path}: {size}.")
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(LARGEST)  # of one that grows meanwhile, what it was allowed to have
    except OSError as error:
        raise Unattachable(f"{path}: {error.strerror}.") from None
    finally:
        os.close(file)
    if not data:
        raise Unattachable(f"{path}: the file is empty.")
    return Attachment(whole, data, mime_of(data, whole))


def mime_of(data: bytes, path: str) -> str:
    """Return the MIME type: an image's from its bytes, whatever its name; anything else's from its
    name."""
    if kind := type_of(data):
        return kind
    import mimetypes

    guess = mimetypes.guess_type(path)[0]
    if guess and guess not in KINDS:
        return guess
    return "text/plain" if _is_text(data) else "application/octet-stream"


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False
