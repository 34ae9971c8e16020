"""Nova's host aggregates."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from blazar.cloud.openstack.answers import Answer
from blazar.cloud.openstack.rest import RestClient
from blazar.cloud.openstack.shared_read import SharedRead
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.ports.compute import Aggregate

if TYPE_CHECKING:
    from blazar.ports.compute import Aggregates

_logger = logging.getLogger(__name__)

_VERSION = "2.1"
_ZONE = "availability_zone"
_MANY: Final = 1_000
"""Reading single aggregates takes more requests than one list, but less time if Nova has more than these."""


class OpenStackAggregates:
    """Host aggregates. Nova stores the availability zone in the metadata; here it is a separate field."""

    def __init__(self, nova: RestClient) -> None:
        self._nova = nova
        self._all = SharedRead(self._read_all)
        self._ids: dict[str, int] = {}
        """The ids of the aggregates by name, as far as they were listed or created here."""
        self._may_read_one = True

    def list_aggregates(self, names: Collection[str] | None = None) -> tuple[Aggregate, ...]:
        """Return aggregates with their hosts and metadata: all, or those with these names.

        Nova always returns all aggregates, so that callers at the same time share a request. If there are
        very many, those whose ids are known are read by id.
        """
        ids = self._ids
        has_many = self._may_read_one and len(ids) > _MANY
        if names is not None and has_many and all(each in ids for each in names):
            known = self._read_known({each: ids[each] for each in names})
            if known is not None:
                return known
        found = self._all.get()
        return found if names is None else tuple(each for each in found if each.name in names)

    def create_aggregate(
        self, name: str, availability_zone: str | None, metadata: Mapping[str, str]
    ) -> Aggregate:
        """Return a new aggregate.

        Makes two requests; if the second fails, the aggregate remains without its metadata.

        Raises:
            CloudConflict: An aggregate with this name exists.
        """
        body = {"aggregate": {"name": name, _ZONE: availability_zone or None}}
        answer = self._nova.post("os-aggregates", body=body, version=_VERSION)
        made = _read_one(answer)
        self._ids[made.name] = made.id
        return self.set_aggregate_metadata(made.id, metadata) if metadata else made

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> Aggregate:
        """Set these keys, remove those with the value None, and leave others alone; return the result.

        Raises:
            CloudNotFound: The aggregate does not exist.
            CloudRefused: The metadata contains the availability zone, which cannot be changed here.
        """
        if _ZONE in metadata:
            raise CloudRefused("the availability zone of an aggregate can only be set when it is created")
        return self._act_on_aggregate(aggregate_id, {"set_metadata": {"metadata": dict(metadata)}})

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an empty aggregate. Raises CloudNotFound, or CloudConflict while it has hosts."""
        # A 400 here can only mean that hosts remain in the aggregate.
        self._nova.delete("os-aggregates", aggregate_id, version=_VERSION, means={400: CloudConflict})

    def add_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Put a host into an aggregate; return it. Raises as the port says."""
        return self._act_on_aggregate(aggregate_id, {"add_host": {"host": service_host}})

    def remove_host(self, aggregate_id: int, service_host: str) -> Aggregate:
        """Take a host out of an aggregate; return it. Raises as the port says."""
        return self._act_on_aggregate(aggregate_id, {"remove_host": {"host": service_host}})

    def _read_all(self) -> tuple[Aggregate, ...]:
        found = self._nova.list("os-aggregates", key="aggregates", parse=_aggregate, version=_VERSION)
        self._ids = {each.name: each.id for each in found}
        return found

    def _read_known(self, ids: Mapping[str, int]) -> tuple[Aggregate, ...] | None:
        """Return the aggregates of these names and ids; None if one is gone or has another name now.

        Nor are they read if Nova's policy allows only to list them.
        """
        found = []
        for name, aggregate_id in ids.items():
            try:
                answer = self._nova.find("os-aggregates", aggregate_id, version=_VERSION)
            except CloudRefused as error:
                self._may_read_one = False
                _logger.warning("aggregates are listed, because none can be read by id: reason=%s", error)
                return None
            aggregate = None if answer is None else _read_one(answer)
            if aggregate is None or aggregate.name != name:
                return None
            found.append(aggregate)
        return tuple(found)

    def _act_on_aggregate(self, aggregate_id: int, action: Mapping[str, object]) -> Aggregate:
        answer = self._nova.post("os-aggregates", aggregate_id, "action", body=action, version=_VERSION)
        return _read_one(answer)


def _read_one(answer: Answer) -> Aggregate:
    """Return the aggregate of an answer about a single one."""
    return answer.read(lambda body: _aggregate(body["aggregate"]))


def _aggregate(body: Mapping[str, Any]) -> Aggregate:
    # A new aggregate has no keys for hosts and metadata.
    metadata = body.get("metadata") or {}
    return Aggregate(
        id=int(body["id"]),
        name=body["name"],
        availability_zone=body[_ZONE],
        hosts=frozenset(body.get("hosts") or ()),
        metadata={key: value for key, value in metadata.items() if key != _ZONE},
    )


if TYPE_CHECKING:

    def _witness(aggregates: OpenStackAggregates) -> Aggregates:
        return aggregates
