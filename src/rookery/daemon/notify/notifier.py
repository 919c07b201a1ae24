"""Sending notifications, each channel in a thread of its own: a slow one delays no other, and none
delays the daemon."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from rookery.client.config import in_force
from rookery.core.header import EMPTY, Header
from rookery.core.json import Json
from rookery.core.settings.notify import Notify
from rookery.daemon.access.devices import Devices
from rookery.daemon.metrics.measures import UNDELIVERED
from rookery.daemon.notify import desktop, events, push, shapes, webhook
from rookery.daemon.notify.events import News
from rookery.daemon.notify.subscriptions import Subscriptions
from rookery.daemon.notify.webhook import Undelivered
from rookery.home import config, paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader

MOST_WAITING = 100

type Deliver = Callable[[News, Notify], None]

_log = logging.getLogger("rookery.daemon")


class Notifier:
    def __init__(
        self, home: str, subscriptions: Subscriptions, devices: Devices, *, starts: bool = True
    ) -> None:
        """Set up the channels; `starts` says whether programs may be started, as desktop
        notifications require."""
        self._home = home
        self._starts = starts
        self._subscriptions = subscriptions
        self._devices = devices
        self._watch = events.Watch(time.time_ns() // 1_000_000)
        self._bound = events.Bound()
        self._stopping = threading.Event()
        self._desktop = _Way("desktop", lambda news, _settings: desktop.send(news))
        self._webhook = _Way("webhook", self._post)
        self._push = _Way("push", self._push_to_all)

    def round(self, heads: list[Json]) -> None:
        """Send what is new. Call it every few seconds, with the heads of all sessions."""
        due = self._watch.look(heads, time.time() * 1000)
        settings = self._settings() if due else self._last
        if settings is None:
            return
        self._last = settings
        wanted = [head for head in due if events.is_wanted(events.kind_of(head), settings)]
        news = [events.news_of(head, self._header(head)) for head in wanted]
        for each in self._bound.take(news, settings.most, time.monotonic()):
            self._tell(each, settings)

    _last: Notify | None = None
    """The settings of the last notification: a summary may follow it."""

    def _settings(self) -> Notify | None:
        with suppress(config.ConfigError, OSError):
            return in_force.load(self._home).notify
        return self._last

    def _tell(self, news: News, settings: Notify) -> None:
        if settings.desktop and self._starts:
            self._desktop.put(news, settings)
        if settings.webhook:
            self._webhook.put(news, settings)
        if settings.push and self._subscriptions.exist():
            self._push.put(news, settings)

    def _header(self, head: Json) -> Header:
        if events.kind_of(head) == events.END:
            return EMPTY
        try:
            with Reader.open(paths.session_dir(self._home, head["id"])) as log:
                return log.header()
        except (LogError, OSError, paths.PathError):
            return EMPTY

    def _post(self, news: News, settings: Notify) -> None:
        delivery = f"{news.session}-{news.seq}" if news.session else f"{news.kind}-{news.at}"
        post = shapes.post(
            news,
            settings.webhook,
            settings.webhook_shape,
            settings.webhook_secret,
            int(time.time()),
            delivery,
        )
        webhook.send(post, self._stopping)

    def _push_to_all(self, news: News, settings: Notify) -> None:
        self._forget_revoked()
        push.send_to_all(news, self._subscriptions, settings, self._stopping)

    def _forget_revoked(self) -> None:
        """Drop the subscriptions of devices that were logged out."""
        known = {device.id for device in self._devices.all()}
        for each in self._subscriptions.all():
            if each.device and each.device not in known:
                self._subscriptions.remove(each.endpoint)

    def stop(self) -> None:
        self._stopping.set()

    def try_all(self, settings: Notify) -> dict[str, str]:
        """Send a test by each configured channel and return why it failed, "" if it worked.
        Blocks."""
        self._stopping.set()  # one try each
        news = News(
            events.TEST, text="Sent by rookery notify test.", at=time.time_ns() // 1_000_000
        )
        ways: dict[str, Deliver] = {}
        if settings.desktop:
            ways["desktop"] = lambda news, _settings: desktop.send(news)
        if settings.webhook:
            ways["webhook"] = self._post
        if settings.push and self._subscriptions.all():
            ways["push"] = self._push_to_all
        return {name: _problem(deliver, news, settings) for name, deliver in ways.items()}


def _problem(deliver: Deliver, news: News, settings: Notify) -> str:
    try:
        deliver(news, settings)
    except Undelivered as error:
        return str(error)
    return ""


def trial(home: str) -> dict[str, str]:
    """Run `try_all` without a daemon. Raises ConfigError."""
    notifier = Notifier(home, Subscriptions(home), Devices(home))
    return notifier.try_all(in_force.load(home).notify)


class _Way:
    def __init__(self, name: str, deliver: Deliver) -> None:
        self._name = name
        self._deliver = deliver
        self._waiting: queue.Queue[tuple[News, Notify]] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, news: News, settings: Notify) -> None:
        try:
            self._waiting.put_nowait((news, settings))
        except queue.Full:
            UNDELIVERED.add(self._name)
            _log.warning("notify: too much waits for %s", self._name)
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            news, settings = self._waiting.get()
            try:
                self._deliver(news, settings)
            except Undelivered as error:
                UNDELIVERED.add(self._name)
                _log.warning("notify: %s: %s", self._name, error)
            except (LogError, OSError, ValueError):
                UNDELIVERED.add(self._name)
                _log.exception("notify: %s", self._name)
