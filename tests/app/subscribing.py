"""Subscriptions to notices, and what their subscribers get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.http_env import LESSEE, NEWER, HttpEnv, Json, Who, good, quiet_settings, refusal

from blazar.domain.subscriptions import ChannelKind
from blazar.domain.webhook_rules import WebhookRules
from blazar.ports.notices import Delivery, DeliveryFailed
from blazar.settings import NoticeSettings, Settings

URL = "https://hooks.example.org/leases?key=1"
WEBHOOK = ChannelKind.WEBHOOK


def noticing_settings(**keys: Any) -> Settings:
    """Return settings under which notices are delivered, by both channels."""
    fields: dict[str, Any] = {
        "channels": frozenset(ChannelKind),
        "webhook_rules": WebhookRules(),
        "mail_domains": frozenset({"example.org"}),
        "languages": ("en", "de"),
        **keys,
    }
    return replace(quiet_settings(), notices=NoticeSettings(**fields))


class Inbox:
    """A channel that collects deliveries; ``failures`` are raised in turn, None for a success."""

    def __init__(self, *failures: DeliveryFailed | None) -> None:
        self.received: list[Delivery] = []
        self.failures = list(failures)
        self.always: Callable[[Delivery], DeliveryFailed | None] = lambda delivery: None
        self.attempts: list[tuple[datetime, str]] = []

    def deliver(self, delivery: Delivery, now: datetime) -> None:
        self.attempts.append((now, delivery.message_id))
        failure = self.failures.pop(0) if self.failures else self.always(delivery)
        if failure is not None:
            raise failure
        self.received.append(delivery)

    @property
    def types(self) -> list[str]:
        return [each.type for each in self.received]

    def of(self, subscription: Json) -> list[str]:
        """Return the types that a subscriber got."""
        return [each.type for each in self.received if each.subscription.id == subscription["id"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticing:
    """A service with a host, whose notices end in an inbox of each kind."""

    env: HttpEnv
    webhooks: Inbox
    mail: Inbox

    def subscribe(self, who: Who = LESSEE, **keys: Any) -> Json:
        """Subscribe, by default with a webhook to the leases of the project, and return the answer."""
        body = {"kind": "webhook", **keys}
        if body["kind"] == "webhook":
            body = {"url": URL, **body}
        found: Json = good(self.ask("POST", body, who=who), 201)["subscription"]
        return found

    def refused(self, status: int = 400, who: Who = LESSEE, **keys: Any) -> str:
        return refusal(self.ask("POST", {"kind": "webhook", "url": URL, **keys}, who=who), status)

    def change(self, subscription: Json, who: Who = LESSEE, **keys: Any) -> Json:
        found: Json = good(self.ask("PUT", keys, f"/{subscription['id']}", who=who))["subscription"]
        return found

    def show(self, subscription: Json, who: Who = LESSEE) -> Json:
        found: Json = good(self.ask("GET", None, f"/{subscription['id']}", who=who))["subscription"]
        return found

    def all(self, who: Who = LESSEE) -> list[Json]:
        found: list[Json] = good(self.ask("GET", None, who=who))["subscriptions"]
        return found

    def waiting(self, subscription: Json, who: Who = LESSEE) -> list[Json]:
        path = f"/{subscription['id']}/deliveries"
        found: list[Json] = good(self.ask("GET", None, path, who=who))["deliveries"]
        return found

    def ask(self, method: str, body: object, path: str = "", who: Who = LESSEE) -> Any:
        more: Json = {} if body is None else {"json": body}
        return self.env.ask(method, f"/subscriptions{path}", who=who, headers=NEWER, **more)

    def wait(self, **duration: float) -> None:
        """Advance the clock, and do what is due."""
        self.env.clock.advance(timedelta(**duration))
        self.env.work()


def make_noticing(env: HttpEnv) -> Noticing:
    """Return an environment with inboxes."""
    webhooks, mail = Inbox(), Inbox()
    env.channels = {ChannelKind.WEBHOOK: webhooks, ChannelKind.MAIL: mail}
    env.restart(env.context)
    env.register("h1", "h2")
    return Noticing(env=env, webhooks=webhooks, mail=mail)
