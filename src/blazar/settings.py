"""Settings of the code below the wiring: frozen values with units.

``blazar.config`` reads them from ``blazar.conf``; tests create them directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Self, TypeVar

from blazar.domain.notices import NoticeType
from blazar.domain.subscriptions import ChannelKind
from blazar.domain.webhook_rules import WebhookRules

DEFAULT_MAX_LIMIT: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Limits of one request; zero for no limit."""

    reservations: int = 10
    """Reservations of a lease."""
    conditions: int = 100
    """Conditions in the properties of all reservations of a lease together."""
    expression_length: int = 16_384
    """Characters of one expression."""
    amount: int = 1000
    """Resources of all reservations of a lease together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferSettings:
    """Rules for offers."""

    default_ttl: timedelta = timedelta(minutes=5)
    """Time for which an offer is held if its request names none."""
    longest_ttl: timedelta = timedelta(minutes=15)
    """Longest time for which an offer may hold its resources."""
    per_project: int = 10
    """Open offers that a project may have at the same time; zero for no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseSettings:
    """Rules for leases of all resource types."""

    cleaning_time: timedelta = timedelta(0)
    """Idle time between two leases of the same resource; zero for none."""
    before_end_lead: timedelta = timedelta(minutes=60)
    """Time from a lease's ``before_end_lease`` event to its end; zero for no event."""
    before_end_wait: timedelta = timedelta(minutes=10)
    """Time after its end for which a lease waits for its before-end action; zero for no wait."""
    before_end_grace: timedelta = timedelta(minutes=60)
    """Time after its end for which a lease is kept if its before-end action failed; zero for none."""
    prepare_lead: timedelta = timedelta(minutes=2)
    """Time before the start at which items without effect, such as the aggregate, are created."""
    release_wait: timedelta = timedelta(seconds=60)
    """Time after the end of the previous lease for which a lease waits for a resource before it gets another
    one; zero for no limit."""
    delete_wait: timedelta = timedelta(seconds=30)
    """Time that a DELETE waits for the teardown before it answers; zero for no wait."""
    update_wait: timedelta = timedelta(seconds=10)
    """Time that a PUT waits for a lease that is starting before it is refused; zero for no wait."""
    claim_attempts: int = 24
    """Attempts of a search whose result other requests claimed first."""
    randomize_selection: bool = False
    """Whether resources are chosen in random order among those that fit."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    offers: OfferSettings = field(default_factory=OfferSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealingSettings:
    """Rules for replacing resources that fail."""

    interval: timedelta = timedelta(minutes=60)
    """Leases that start within this time get other resources immediately, later leases when their start is
    that close. If none are free, the search is repeated at this interval. Zero: search for all leases
    immediately, and again only when a resource recovers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationSource:
    """Broker address of the notifications of a cloud's services."""

    topics: tuple[str, ...]
    exchange: str
    pool: str
    """Name of the queue that all managers consume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcilerSettings:
    """Timing and size of the reconciler."""

    workers: int = 8
    """Leases that one manager reconciles at the same time."""
    claim_duration: timedelta = timedelta(seconds=10)
    """Time after which any manager may take over a claim that was not renewed."""
    step_limit: timedelta = timedelta(seconds=300)
    """Time that one step may take before other managers may take over its claim; zero for no limit."""
    clock_limit: timedelta = timedelta(seconds=2)
    """Difference from the database's clock above which a manager stops acting; zero for no limit."""
    poll_interval: timedelta = timedelta(seconds=2)
    """Time between two polls for due work, in addition to timers and wake-up messages."""
    first_backoff: timedelta = timedelta(seconds=1)
    longest_backoff: timedelta = timedelta(seconds=60)
    sweep_interval: timedelta = timedelta(minutes=10)
    """Time between two sweeps for leftovers of no current reservation; zero for no sweeps."""
    discovery_interval: timedelta = timedelta(minutes=5)
    """Time between two discoveries of resources by plugins; zero for only when a manager starts."""
    plan_check_interval: timedelta = timedelta(minutes=10)
    """Time between two checks that work is scheduled for every lease; zero for no checks."""
    answer_check_interval: timedelta = timedelta(minutes=60)
    """Time between two deletions of answers that are no longer repeated; zero for never."""
    offer_check_interval: timedelta = timedelta(minutes=10)
    """Time between two deletions of expired offers, which no longer hold anything; zero for never."""
    maintenance_check_interval: timedelta = timedelta(minutes=1)
    """Time between two checks of resources under maintenance; zero for none."""

    outbox_give_up_after: timedelta = timedelta(days=3)
    """Age at which an undelivered message is marked as failed; zero for never."""

    def backoff(self, attempts: int) -> timedelta:
        """Return the delay after a number of consecutive failures; it doubles each time, within bounds."""
        return min(self.longest_backoff, self.first_backoff * (1 << min(attempts, 16)))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSettings:
    """Observation of the use of resources, and the records of it."""

    interval: timedelta = timedelta(minutes=5)
    """Time between two observations; zero for none."""
    kept_for: timedelta = timedelta(0)
    """Time for which records are kept after the end of what they describe; zero for no limit."""
    no_show_grace: Mapping[str, timedelta] = field(default_factory=dict)
    """By resource type, the time without use after which a lease ends; types that are missing end none."""
    no_show_warning: timedelta = timedelta(minutes=30)
    """The least time between the warning and the end of a lease that is not used."""
    no_show_exempt: frozenset[str] = frozenset()
    """The ids of projects whose leases do not end early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSettings:
    """Rules for feeds, which calendar programs read."""

    per_project: int = 20
    """Feeds that a project may have; zero for no limit."""
    longest_age: timedelta = timedelta(days=365)
    """Time after its creation at which a feed expires; zero for no limit."""
    past: timedelta = timedelta(days=90)
    """Time after its end for which a lease is shown; zero for none."""
    cancelled: timedelta = timedelta(days=30)
    """Time after its deletion for which a lease is shown as cancelled; zero for none."""
    ahead: timedelta = timedelta(days=90)
    """Time for which busy times are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSettings:
    """Rules for notices to people, and for the subscriptions to them."""

    channels: frozenset[ChannelKind] = frozenset()
    """Channels by which notices are delivered; empty for no notices."""
    leads: tuple[timedelta, ...] = (timedelta(days=1), timedelta(hours=1))
    """Times before a start or an end at which subscribers are reminded that name none."""
    default_types: frozenset[NoticeType] = frozenset()
    """Types that the owner of a lease gets by mail without a subscription."""
    check_interval: timedelta = timedelta(seconds=60)
    """Time between two checks for reminders, expired offers and operators' conditions; zero for none."""
    workers: int = 8
    """Deliveries that one manager makes at the same time."""
    per_project: int = 20
    """Subscriptions that a project may have; zero for no limit."""
    longest_queue: int = 1000
    """Undelivered notices of a subscription above which it is disabled; zero for no limit."""
    longest_pause: timedelta = timedelta(hours=1)
    """Longest time between two attempts of a delivery."""
    give_up_after: timedelta = timedelta(hours=24)
    """Age at which an undelivered notice is given up."""
    kept_for: timedelta = timedelta(days=7)
    """Time for which notices that were given up are kept; zero for no limit."""
    webhook_rules: WebhookRules = field(default_factory=WebhookRules)
    mail_domains: frozenset[str] = frozenset()
    """Domains whose addresses may be subscribed after a confirmation; empty for only users' own addresses."""
    time_zone: str = "UTC"
    """Time zone of dates in mail to subscribers that name none."""
    languages: tuple[str, ...] = ("en",)
    """Languages for which there are templates; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Rules of the API."""

    auth_strategy: str = "keystone"
    """``keystone``, ``http_basic`` or ``noauth``."""
    http_basic_user_file: str | None = None
    """Path of an htpasswd file with bcrypt hashes, for ``http_basic``."""
    shortage_status: int = 400
    """Status at API version 1.0 of a request for more than is available: 400, 409 or 500."""
    max_body_bytes: int = 114_688
    """Longest request body in bytes; longer ones are refused with 413."""
    max_limit: int = DEFAULT_MAX_LIMIT
    """The most items of a page of a list, from API version 1.1 on."""
    trusted_hosts: frozenset[str] = frozenset()
    """Names of the API in lower case, in addition to IP addresses and ``localhost``."""
    feed_reads_per_hour: int = 60
    """Reads of the calendar of one feed that one process answers in an hour."""
    unknown_feeds_per_hour: int = 60
    """Reads with unknown tokens that one process answers to one network in an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UiSettings:
    """Rules of the web console."""

    session_keys: tuple[str, ...] = ()
    """Secrets of at least 32 characters that encrypt sessions; none for a random one."""
    keystone_url: str | None = None
    verify: bool | str = True
    """Whether Keystone's certificate is checked, or the path of the authorities that may sign it."""
    user_domain: str = "Default"
    websso: Mapping[str, str] = field(default_factory=dict)
    """Labels of the choices for web single sign-on, by protocol or ``identity provider/protocol``."""
    public_url: str | None = None
    """Address of the console for browsers."""
    frame_ancestors: tuple[str, ...] = ()
    """Origins whose pages may show the console in a frame."""
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacitySettings:
    """Which free amounts metrics show."""

    properties: tuple[str, ...] = ()
    """Properties by whose values resources are also counted in groups."""
    most_values: int = 50
    """The most values of a property that are shown; resources with rarer ones are counted together."""
    within: tuple[timedelta, ...] = (timedelta(days=1), timedelta(days=7))
    """Times for which the smallest free amount is computed from bookings."""
    low_percent: float = 5
    """The share of all resources below which the free amount is low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Addresses at which metrics and the health of managers are served."""

    listen_host: str = "127.0.0.1"
    listen_port: int | None = None
    """Port at which a manager serves both; None if it does not."""
    is_in_api: bool = False
    """Whether the API serves its metrics."""
    kept_for_seconds: float = 10
    """Seconds for which figures from the database are cached; 0 for no caching."""
    capacity: CapacitySettings = field(default_factory=CapacitySettings)


class OwnSettings:
    """Settings that only one resource type has; their class is in its folder and has a default for each."""

    __slots__ = ()

    def embedded(self, speed: float) -> Self:
        """Return the settings of the embedded service, which has no bus and a clock of this speed.

        Durations of real time, such as intervals between polls, are multiplied by *speed*.
        """
        return self


OwnT = TypeVar("OwnT", bound=OwnSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the code below the wiring."""

    region: str | None = None
    """The region in which the service is; None if it is not configured."""
    leases: LeaseSettings = field(default_factory=LeaseSettings)
    healing: HealingSettings = field(default_factory=HealingSettings)
    reconciler: ReconcilerSettings = field(default_factory=ReconcilerSettings)
    usage: UsageSettings = field(default_factory=UsageSettings)
    feeds: FeedSettings = field(default_factory=FeedSettings)
    notices: NoticeSettings = field(default_factory=NoticeSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    own: tuple[OwnSettings, ...] = ()
    """Settings of resource types, at most one of each class."""

    def of(self, kind: type[OwnT]) -> OwnT:
        """Return a resource type's own settings of this class; the defaults if none are configured."""
        return next((each for each in self.own if isinstance(each, kind)), None) or kind()

    def with_own(self, *own: OwnSettings) -> Settings:
        """Return the settings with these of resource types, instead of those of the same classes."""
        kinds = {type(each) for each in own}
        return replace(self, own=(*(each for each in self.own if type(each) not in kinds), *own))
