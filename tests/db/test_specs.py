"""Specs of reservations, which the store decodes and encodes with the codecs of their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from samples import make_allocation, make_host, make_lease

from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.domain.lease import Lease, Reservation, ReservationStatus, ResourceId, StoredSpec
from blazar.plugins.hosts.store import HOST_STORE

HOST = "physical:host"
ITS_ROW = tables.reservations.c.lease_id == "lease"


@dataclass(frozen=True)
class Boxes:
    number: int
    colour: str = "red"


class BoxCodec:
    """Reads rows without a colour too, as an earlier version wrote them."""

    def encode(self, spec: Boxes) -> Mapping[str, object]:
        return {"number": spec.number, "colour": spec.colour}

    def decode(self, stored: Mapping[str, object]) -> Boxes:
        number, colour = stored["number"], stored.get("colour", "red")
        assert isinstance(number, int)
        assert isinstance(colour, str)
        return Boxes(number, colour)


@pytest.fixture
def store(engine: sa.Engine, clock: ManualClock) -> SqlStore:
    return SqlStore(engine, clock, {HOST: BoxCodec()})


def insert(store: SqlStore, spec: object, resource_type: str = HOST) -> Lease:
    lease = make_lease()
    reservation = replace(lease.reservations[0], spec=spec, resource_type=resource_type)
    with store.begin() as transaction:
        transaction.leases.insert(replace(lease, reservations=(reservation,)))
        transaction.commit()
    return find(store)


def find(store: SqlStore) -> Lease:
    with store.read() as transaction:
        found = transaction.leases.find("lease")
    assert found is not None
    return found


def change(store: SqlStore, clock: ManualClock, before: Lease, reservation: Reservation) -> None:
    with store.begin() as transaction:
        transaction.leases.replace(before, replace(before, reservations=(reservation,)), clock.now())
        transaction.commit()


def text_of(engine: sa.Engine) -> str:
    with engine.connect() as connection:
        return str(connection.scalar(sa.select(tables.reservations.c.spec).where(ITS_ROW)))


def write_text(engine: sa.Engine, text: str) -> None:
    with engine.begin() as connection:
        connection.execute(sa.update(tables.reservations).where(ITS_ROW).values(spec=text))


def test_a_spec_is_stored_in_the_form_of_its_codec(store: SqlStore, engine: sa.Engine) -> None:
    lease = insert(store, Boxes(3))

    assert text_of(engine) == '{"number": 3, "colour": "red"}'
    assert lease.reservations[0].spec == Boxes(3)


def test_a_spec_of_a_type_without_a_codec_stays_as_it_is_stored(store: SqlStore, engine: sa.Engine) -> None:
    spec = StoredSpec({"x": [1, None]})

    lease = insert(store, spec, "unknown")

    assert text_of(engine) == '{"x": [1, null]}'
    assert lease.reservations[0].spec == spec
    assert not lease.is_degraded


@pytest.mark.parametrize(
    ("text", "content", "is_damaged"),
    [
        ('{"numbers": 3}', {"numbers": 3}, False),
        ('{"number": "3"}', {"number": "3"}, False),
        ("[1]", {}, True),
        ("{broken", {}, True),
    ],
)
def test_a_damaged_spec_is_read_as_it_is_stored_and_keeps_its_text(
    store: SqlStore,
    engine: sa.Engine,
    clock: ManualClock,
    text: str,
    content: Mapping[str, object],
    is_damaged: bool,
) -> None:
    insert(store, Boxes(3))
    write_text(engine, text)

    lease = find(store)
    (reservation,) = lease.reservations
    change(store, clock, lease, replace(reservation, is_deployed=True))

    assert reservation.spec == StoredSpec(content)
    assert reservation.is_damaged == is_damaged
    assert find(store).reservations[0].is_deployed
    assert text_of(engine) == text


def test_only_a_changed_spec_is_written(store: SqlStore, engine: sa.Engine, clock: ManualClock) -> None:
    insert(store, Boxes(3))
    write_text(engine, '{"number": 3}')

    lease = find(store)
    (reservation,) = lease.reservations
    change(store, clock, lease, replace(reservation, status=ReservationStatus.ACTIVE))

    assert reservation.spec == Boxes(3)
    assert text_of(engine) == '{"number": 3}'
    change(store, clock, find(store), replace(reservation, spec=Boxes(4)))
    assert text_of(engine) == '{"number": 4, "colour": "red"}'


def test_reservations_on_a_host_have_decoded_specs(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(make_host("1"))
        transaction.commit()
    insert(store, Boxes(3))
    with store.begin() as transaction:
        transaction.allocations.insert([make_allocation("1", "lease-r0", 1, 2)])
        transaction.commit()

    with store.read() as transaction:
        found = transaction.of(HOST_STORE).reservations_on(ResourceId("1"))

    assert found == (("lease-r0", HOST, Boxes(3)),)
