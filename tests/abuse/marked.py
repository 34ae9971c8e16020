"""All output of a service whose secrets are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json import dumps
from urllib.parse import urlsplit

import amqp
import requests
import sqlalchemy as sa
from programs import run

from blazar.db.engine import make_engine
from blazar.db.tables import metadata
from rig.installation import Installation

_EXCHANGE = "openstack"
_QUEUE = "notifications.info"
_SECONDS = 60
_PATIENCE_SECONDS = 8


@dataclass(slots=True, kw_only=True)
class Outpour:
    """The output collected so far, by source."""

    secrets: dict[str, str]
    """Secrets by description."""
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, text: str) -> None:
        """Record output of a source."""
        self.texts[source] = self.texts.get(source, "") + text

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        json: object = None,
        data: str | None = None,
    ) -> requests.Response:
        """Send a request; record and return the response."""
        answer = requests.request(method, url, headers=dict(headers), timeout=_SECONDS, json=json, data=data)
        self.add("answers", f"{answer.status_code} {answer.headers} {answer.text}\n")
        return answer

    def try_to_ask(self, method: str, url: str, headers: Mapping[str, str]) -> None:
        """Send a request; record the response, or the error if there is none."""
        try:
            answer = requests.request(method, url, headers=dict(headers), timeout=_PATIENCE_SECONDS)
            self.add("answers", f"{answer.status_code} {answer.headers} {answer.text}\n")
        except requests.RequestException as error:
            self.add("answers", f"none: {type(error).__name__}\n")

    def command(self, module: str, *arguments: str) -> None:
        """Run an operator's command and record its output."""
        done = run(module, *arguments, seconds=_SECONDS)
        self.add(module, done.stdout + done.stderr)

    def take_logs(self, installation: Installation) -> None:
        """Record the logs of all processes of the service, without those of requests of the rig's uWSGI.

        The guide's uWSGI has no such log, because the service logs requests itself.
        """
        requests_of_uwsgi = installation.plan.folder.access_log("blazar-api")
        for path in installation.plan.folder.all_logs.rglob("blazar*"):
            if path.is_file() and path != requests_of_uwsgi:
                self.add(path.name, path.read_text(errors="replace"))

    def take_tables(self, database_url: str) -> None:
        """Record every row of the database."""
        engine = make_engine(database_url)
        with engine.connect() as connection:
            for table in metadata.sorted_tables:
                rows = connection.execute(sa.select(table)).mappings()
                self.add(table.name, "\n".join(dumps(dict(row), default=str) for row in rows))
        engine.dispose()

    def takes_notifications(self, transport_url: str) -> bool:
        """Record queued notifications; return whether any have been recorded so far."""
        with _connection(transport_url) as connection:
            channel = connection.channel()
            while (message := channel.basic_get(_QUEUE, no_ack=True)) is not None:
                self.add("notifications", str(message.body))
        return "notifications" in self.texts

    def found(self) -> Iterator[str]:
        """Yield the description, source and context of each secret in the output."""
        for source, text in self.texts.items():
            for name, secret in self.secrets.items():
                at = text.find(secret)
                if at >= 0:
                    line = text[max(0, at - 300) : at + len(secret) + 60]
                    yield f"{name} in {source}: …{line}…"


def collect_notifications(transport_url: str) -> None:
    """Create a queue in which the broker keeps notifications from now on."""
    with _connection(transport_url) as connection:
        channel = connection.channel()
        channel.exchange_declare(_EXCHANGE, "topic", durable=False, auto_delete=False)
        channel.queue_declare(_QUEUE, durable=False, auto_delete=False)
        channel.queue_bind(_QUEUE, _EXCHANGE, routing_key=_QUEUE)


def _connection(transport_url: str) -> amqp.Connection:
    url = urlsplit(transport_url)
    return amqp.Connection(f"{url.hostname}:{url.port}", userid=url.username, password=url.password)
