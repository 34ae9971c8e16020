"""The tables. Migrations create them; a test checks that both agree."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)
OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    # Names are case-sensitive on every database.
    "mysql_collate": "utf8mb4_bin",
    # Sequence numbers of a log are never reused, even after old entries are purged.
    "sqlite_autoincrement": True,
}
NO_DOUBLE_PROMISE = "no_double_promise"
"""The name of the constraint with which the database rejects overlapping exclusive allocations."""


class Instant(TypeDecorator[datetime]):
    """A timezone-aware instant, stored in UTC to the microsecond."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> sa.types.TypeEngine[datetime]:
        """Return the database's type; MySQL stores fractions of a second only on request."""
        if dialect.name == "mysql":
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the naive UTC time to store. Raises ValueError for an instant without a zone."""
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError("an instant must be timezone-aware")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the instant with its time zone."""
        return None if value is None else value.replace(tzinfo=UTC)


LEASE_ORDERS: Final = ("created_at", "start_at", "end_at", "name")
"""The columns by which leases are listed."""
_Id = sa.String(36)
_Counter = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_LongText = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql")


def _table(name: str, *columns: sa.schema.SchemaItem) -> sa.Table[Any]:
    return sa.Table(name, metadata, *columns, **OPTIONS)


def _touches() -> sa.Column[int]:
    """Return a counter to increment when a transaction only locks a row or confirms what it has read.

    Cluster nodes do not know each other's locks, but detect two transactions that change the same row.
    """
    return sa.Column("touches", _Counter, nullable=False, server_default="0")


def _times() -> tuple[sa.Column[datetime], sa.Column[datetime]]:
    return sa.Column("created_at", Instant), sa.Column("updated_at", Instant)


leases = _table(
    "leases",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("project_id", sa.String(255)),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("is_deleting", sa.Boolean, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    _touches(),
    *_times(),
    # One for each order in which leases are listed, of all projects and of one; each ends with the id.
    *(sa.Index(None, column, "id") for column in LEASE_ORDERS),
    *(sa.Index(None, "project_id", column, "id") for column in LEASE_ORDERS),
)
reservations = _table(
    "reservations",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("lease_id", _Id, sa.ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("spec", _LongText, nullable=False),
    sa.Column("status", sa.String(13), nullable=False),
    sa.Column("is_deployed", sa.Boolean, nullable=False),
    sa.Column("problem", _LongText),
    sa.Column("missing_resources", sa.Boolean, nullable=False),
    # JSON: the ids of failed resources that were replaced while the lessee used them, or null.
    sa.Column("lost_resources", _LongText),
    # The facts over whose values the resources are distributed.
    sa.Column("same_by", sa.String(255)),
    sa.Column("spread_by", sa.String(255)),
    *_times(),
    # For leases with missing resources, queried when resources are released; most reservations have ended.
    sa.Index("ix_reservations_status_missing_resources", "status", "missing_resources"),
)
events = _table(
    "events",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("lease_id", _Id, sa.ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("event_type", sa.String(66), nullable=False),
    sa.Column("time_at", Instant, nullable=False),
    sa.Column("status", sa.String(13), nullable=False),
    *_times(),
)
resources = _table(
    "resources",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("collection", sa.String(32), nullable=False),
    # Starts at random, so that it differs from the counter of an earlier resource with the same id.
    sa.Column("generation", _Counter, nullable=False),
    sa.Column("health", sa.String(16), nullable=False, server_default="sound"),
    sa.Column("problem", _LongText),
)
hosts = _table(
    "hosts",
    sa.Column("id", _Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("hypervisor_hostname", sa.String(255), nullable=False, unique=True),
    sa.Column("service_name", sa.String(255), nullable=False),
    sa.Column("hypervisor_type", sa.String(255), nullable=False),
    sa.Column("hypervisor_version", sa.Integer, nullable=False),
    sa.Column("vcpus", sa.Integer, nullable=False),
    sa.Column("memory_mb", sa.Integer, nullable=False),
    sa.Column("local_gb", sa.Integer, nullable=False),
    sa.Column("cpu_info", _LongText, nullable=False),
    sa.Column("availability_zone", sa.String(255), nullable=False),
    *_times(),
    sa.Index(None, "created_at", "id"),
)
resource_properties = _table(
    "resource_properties",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("is_private", sa.Boolean, nullable=False),
    *_times(),
    sa.UniqueConstraint("resource_type", "name"),
)
host_capabilities = _table(
    "host_capabilities",
    sa.Column("host_id", _Id, sa.ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("property_id", _Id, sa.ForeignKey("resource_properties.id"), primary_key=True, index=True),
    sa.Column("value", _LongText, nullable=False),
)
host_providers = _table(
    "host_providers",
    sa.Column("host_id", _Id, sa.ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("uuid", _Id, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("parent_uuid", _Id),
    # The root has position 0.
    sa.Column("position", sa.Integer, nullable=False),
    # JSON: no query filters by single inventories, and a cloud's hosts have few distinct ones.
    sa.Column("inventories", _LongText, nullable=False),
    sa.Column("traits", _LongText, nullable=False),
)
floatingips = _table(
    "floatingips",
    sa.Column("id", _Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("network_id", _Id, nullable=False),
    sa.Column("subnet_id", _Id, nullable=False),
    # In canonical form, so that each address has exactly one text.
    sa.Column("address", sa.String(45), nullable=False),
    *_times(),
    sa.UniqueConstraint("network_id", "address"),
    sa.Index(None, "created_at", "id"),
    sa.Index(None, "address", "id"),
)
stock = _table(
    "stock",
    sa.Column("id", _Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True),
    # Unique in its collection: the id is derived from both.
    sa.Column("name", sa.String(255), nullable=False),
    # JSON in the format of the resource's plugin.
    sa.Column("facts", _LongText, nullable=False),
    sa.Column("amounts", _LongText, nullable=False),
    *_times(),
)
allocations = _table(
    "allocations",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("resource_id", _Id, sa.ForeignKey("resources.id"), nullable=False),
    # An allocation stays after its reservation while its resource is being cleaned.
    sa.Column("reservation_id", _Id, sa.ForeignKey("reservations.id", ondelete="SET NULL")),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    # The resource's id if the allocation is exclusive; NO_DOUBLE_PROMISE checks it.
    sa.Column("exclusive_resource_id", _Id),
    # For a share of the resource: the number of slots and, as JSON, the demand of each.
    sa.Column("slots", sa.Integer),
    sa.Column("demand", sa.Text),
    sa.Column("released_at", Instant, index=True),
    sa.Index("ix_allocations_resource_id_end_at_start_at", "resource_id", "end_at", "start_at"),
    sa.Index("ix_allocations_reservation_id_resource_id", "reservation_id", "resource_id"),
    # Few of all allocations have begun.
    sa.Index("ix_allocations_start_at_released_at_resource_id", "start_at", "released_at", "resource_id"),
)
resource_changes = _table(
    "resource_changes",
    sa.Column("sequence", _Counter, primary_key=True),
    sa.Column("resource_id", _Id, nullable=False),
    sa.Column("facts_changed", sa.Boolean, nullable=False),
    sa.Column("changed_at", Instant, nullable=False, index=True),
    # If a reservation booked or freed the resource and nothing else changed: its id, and the generation that
    # the resource got by this.
    sa.Column("generation", _Counter),
    sa.Column("reservation_id", _Id),
)
work = _table(
    "work",
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("due_at", Instant, nullable=False, index=True),
    sa.Column("owner", sa.String(255)),
    sa.Column("claim_deadline", Instant),
    # Starts at random, so that it differs from the counter of earlier work with the same key.
    sa.Column("claim_number", _Counter, nullable=False),
    _touches(),
    sa.Column("attempts", sa.Integer, nullable=False),
    # The time scheduled during a claim; without it, releasing the claim would overwrite the new time.
    sa.Column("woken_at", Instant),
)
journal = _table(
    "journal",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("at", Instant, nullable=False),
    sa.Column("lease_id", _Id, index=True),
    sa.Column("reservation_id", _Id, index=True),
    sa.Column("event", sa.String(64), nullable=False),
    sa.Column("reason", _LongText, nullable=False),
    sa.Column("actor", sa.String(255), nullable=False),
    sa.Column("request_id", sa.String(64)),
    # For what a request does to a lease: the id of the request, whose second execution is refused.
    sa.Column("executed_request_id", sa.String(64)),
    sa.Index("ux_journal_lease_id_executed_request_id", "lease_id", "executed_request_id", unique=True),
)
outbox = _table(
    "outbox",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("event_type", sa.String(64), nullable=False),
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("payload", _LongText, nullable=False),
    sa.Column("due_at", Instant, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created_at", Instant),
    # When delivery failed for good; the message is kept until an operator resends or deletes it.
    sa.Column("failed_at", Instant),
    sa.Column("problem", _LongText),
    sa.Index("ix_outbox_failed_at_due_at", "failed_at", "due_at"),
)
sweep_findings = _table(
    "sweep_findings",
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("first_seen_at", Instant, nullable=False),
)
answers = _table(
    "answers",
    # Digests of the idempotency key with its scope, and of the request.
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("request_digest", sa.String(64), nullable=False),
    # JSON.
    sa.Column("answer", _LongText, nullable=False),
    sa.Column("created_at", Instant, nullable=False, index=True),
)
offers = _table(
    "offers",
    # Also the id of the lease that the offer becomes, unless it is for an existing lease.
    sa.Column("id", _Id, primary_key=True),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("project_id", sa.String(255)),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    sa.Column("before_end_at", Instant),
    # JSON: the id, the resource type and the spec of each reservation.
    sa.Column("reservations", _LongText, nullable=False),
    sa.Column("expires_at", Instant, nullable=False, index=True),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("committed_at", Instant),
    # Of an offer for a change of an existing lease. Not a foreign key: the use case that deletes a lease also
    # has to tell the index what its offers held.
    sa.Column("lease_id", _Id, index=True),
    # JSON: the request, and for each reservation what it held and what it is to hold.
    sa.Column("planned_change", _LongText),
    sa.Column("outdated_at", Instant),
    sa.Column("expiry_notice", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index(None, "project_id", "expires_at"),
)
# Apart from the allocations of leases: those of an expired offer do not count, but may still exist.
offer_allocations = _table(
    "offer_allocations",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("offer_id", _Id, sa.ForeignKey("offers.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("resource_id", _Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), nullable=False),
    sa.Column("reservation_id", _Id, nullable=False),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    # As in the allocations of leases.
    sa.Column("slots", sa.Integer),
    sa.Column("demand", sa.Text),
    sa.Column("expires_at", Instant, nullable=False, index=True),
    sa.Index(None, "resource_id", "reservation_id"),
)
maintenances = _table(
    "maintenances",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("reason", sa.String(255), nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    # Far in the future if an operator is to end it.
    sa.Column("end_at", Instant, nullable=False, index=True),
    sa.Column("leaves_pool", sa.Boolean, nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("created_at", Instant, nullable=False),
)
# Apart from the allocations of leases, which the database keeps from overlapping: a lease that has begun
# keeps its resources during maintenance.
maintenance_resources = _table(
    "maintenance_resources",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column(
        "maintenance_id",
        _Id,
        sa.ForeignKey("maintenances.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    sa.Column(
        "resource_id", _Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
)
# What leases of projects used and released, for rules on the time until the next use. Apart from the
# allocations, which are deleted with their leases. Without foreign keys: a lease or a resource may be gone.
past_uses = _table(
    "past_uses",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("project_id", sa.String(255), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("resource_id", _Id, nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False, index=True),
    sa.Column("slots", sa.Integer),
    sa.Index(None, "project_id", "end_at"),
)
# Past periods, for questions about usage. Only periods that have ended are recorded here; the rest is above.
# Without foreign keys: leases and resources may be gone.
held_periods = _table(
    "held_periods",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("project_id", sa.String(255)),
    sa.Column("user_id", sa.String(255)),
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("reservation_id", _Id, nullable=False, index=True),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("resource_id", _Id, nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False, index=True),
    # As in the allocations.
    sa.Column("slots", sa.Integer),
    sa.Column("demand", sa.Text),
    sa.Index(None, "project_id", "end_at"),
)
reservation_states = _table(
    "reservation_states",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("reservation_id", _Id, nullable=False, index=True),
    sa.Column("since_at", Instant, nullable=False, index=True),
    sa.Column("status", sa.String(13), nullable=False),
    sa.Column("missing_resources", sa.Boolean, nullable=False),
)
failed_periods = _table(
    "failed_periods",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("resource_id", _Id, nullable=False, index=True),
    sa.Column("start_at", Instant, nullable=False),
    # Null while the resource is failed.
    sa.Column("end_at", Instant, index=True),
)
past_facts = _table(
    "past_facts",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("resource_id", _Id, nullable=False, index=True),
    sa.Column("until_at", Instant, nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    # JSON.
    sa.Column("facts", _LongText, nullable=False),
    sa.Column("amounts", _LongText, nullable=False),
)
used_periods = _table(
    "used_periods",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("reservation_id", _Id, nullable=False, index=True),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("resource_id", _Id, nullable=False),
    sa.Column("units", sa.Integer, nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    # Null until an observation finds another number.
    sa.Column("end_at", Instant, index=True),
)
observed_periods = _table(
    "observed_periods",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("resource_type", sa.String(66), nullable=False),
    sa.Column("start_at", Instant, nullable=False),
    # The last observation.
    sa.Column("end_at", Instant, nullable=False, index=True),
)
# Requests for leases that were refused for lack of free resources; the same one is recorded once.
refused_requests = _table(
    "refused_requests",
    # A digest of the project, the times and the reservations.
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("project_id", sa.String(255)),
    sa.Column("requested_at", Instant, nullable=False, index=True),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    # JSON, as of offers.
    sa.Column("reservations", _LongText, nullable=False),
    sa.Index(None, "project_id", "requested_at"),
)
# At most one row: when the recording began in a database that already had leases, or of imported leases.
usage_start = _table(
    "usage_start",
    sa.Column("at", Instant, primary_key=True),
)
feeds = _table(
    "feeds",
    sa.Column("id", _Id, primary_key=True),
    # Of a random token of 256 bits, which is not stored.
    sa.Column("token_digest", sa.String(64), nullable=False, unique=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("project_id", sa.String(255), nullable=False),
    # Not a foreign key: for some time, the feed says that the lease was deleted.
    sa.Column("lease_id", _Id),
    # JSON: the resources of a feed of busy times.
    sa.Column("question", _LongText, nullable=False),
    sa.Column("alarm_minutes", sa.Integer),
    sa.Column("created_at", Instant, nullable=False, index=True),
    sa.Column("last_used_at", Instant),
    sa.Index(None, "project_id", "created_at", "id"),
)
# Leases that were deleted before their end, for feeds. A lease that is imported again may be deleted again.
deleted_leases = _table(
    "deleted_leases",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("project_id", sa.String(255)),
    sa.Column("start_at", Instant, nullable=False),
    sa.Column("end_at", Instant, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created_at", Instant),
    sa.Column("deleted_at", Instant, nullable=False, index=True),
    sa.Index(None, "project_id", "deleted_at"),
)
# Events, until it is known who subscribed to them.
notices = _table(
    "notices",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("type", sa.String(32), nullable=False),
    # The id of an offer, for notices of offers. Without foreign keys: leases may be gone.
    sa.Column("lease_id", _Id, nullable=False),
    sa.Column("project_id", sa.String(255)),
    sa.Column("user_id", sa.String(255)),
    # JSON.
    sa.Column("data", _LongText, nullable=False),
    sa.Column("at", Instant, nullable=False),
)
subscriptions = _table(
    "subscriptions",
    sa.Column("id", _Id, primary_key=True),
    sa.Column("scope", sa.String(8), nullable=False, index=True),
    sa.Column("project_id", sa.String(255), index=True),
    sa.Column("user_id", sa.String(255)),
    sa.Column("lease_id", _Id, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    # JSON: a list of names.
    sa.Column("types", sa.Text, nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("secret", sa.String(64)),
    sa.Column("former_secret", sa.String(64)),
    sa.Column("former_until", Instant),
    # JSON: a list of minutes, or null for those of the site.
    sa.Column("lead_minutes", sa.Text),
    sa.Column("time_zone", sa.String(64)),
    sa.Column("language", sa.String(16)),
    # When operators get notices of scarce resources, and of leases that wait.
    sa.Column("resource_type", sa.String(66)),
    sa.Column("below", sa.Integer),
    sa.Column("waits_minutes", sa.Integer),
    sa.Column("is_enabled", sa.Boolean, nullable=False),
    # Whether the service made it for the owner of a lease.
    sa.Column("is_default", sa.Boolean, nullable=False),
    # The code that was mailed to an unconfirmed address, and the failed attempts to enter it.
    sa.Column("code", sa.String(64)),
    sa.Column("code_attempts", sa.Integer, nullable=False),
    # The success of deliveries.
    sa.Column("succeeded_at", Instant),
    sa.Column("failing_since", Instant),
    sa.Column("retry_at", Instant),
    sa.Column("problem", sa.Text),
    *_times(),
)
deliveries = _table(
    "deliveries",
    sa.Column("id", _Counter, primary_key=True),
    # Tells receivers that an attempt is a repetition.
    sa.Column("message_id", _Id, nullable=False),
    sa.Column("subscription_id", _Id, sa.ForeignKey("subscriptions.id", ondelete="CASCADE"), nullable=False),
    sa.Column("type", sa.String(32), nullable=False),
    # Deliveries of one subscription about one lease keep their order.
    sa.Column("lease_id", _Id, nullable=False),
    # JSON.
    sa.Column("data", _LongText, nullable=False),
    sa.Column("at", Instant, nullable=False),
    # The date of a reminder.
    sa.Column("date_at", Instant),
    # The first attempt to deliver; later than the event if it was sent again.
    sa.Column("queued_at", Instant, nullable=False),
    sa.Column("due_at", Instant, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    # When delivery was given up.
    sa.Column("failed_at", Instant),
    sa.Column("problem", sa.Text),
    sa.Index(None, "failed_at", "due_at"),
    sa.Index(None, "subscription_id", "lease_id", "id"),
)
# Addresses that recently got a code: nothing else may be mailed to them before they confirm it.
confirmations = _table(
    "confirmations",
    sa.Column("id", _Counter, primary_key=True),
    sa.Column("address", sa.String(254), nullable=False, index=True),
    sa.Column("project_id", sa.String(255)),
    sa.Column("sent_at", Instant, nullable=False, index=True),
)
# Notices that must not be sent to a subscriber again: reminders of a date, and conditions that still hold.
told = _table(
    "told",
    sa.Column(
        "subscription_id", _Id, sa.ForeignKey("subscriptions.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("type", sa.String(32), primary_key=True),
    # A lease, an offer, or a resource type.
    sa.Column("about", sa.String(66), primary_key=True),
    sa.Column("date_at", Instant, nullable=False, index=True),
    # The shortest lead time of the reminders that were sent.
    sa.Column("lead_minutes", sa.Integer),
)
# Projects with limits, offers, feeds or subscriptions: each row is locked while the project's reservations
# are counted.
projects = _table(
    "projects",
    sa.Column("id", sa.String(255), primary_key=True),
    sa.Column("generation", sa.Integer, nullable=False),
)
