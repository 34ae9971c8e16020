"""What an operator does by hand: ``blazar-manage lease``, ``floatingip`` and ``sweep``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from samples import know_a_lease
from app.floatingips import Pool, address
from app.world import LESSEE, World

from blazar.booking.context import Context
from blazar.cmd.manage import floatingips, leases, sweeping
from blazar.domain.errors import LeaseNotFound
from blazar.reconcile.periodic.tasks import SWEEP

pytestmark = pytest.mark.usefixtures("hosts")

NOBODY = "11111111-2222-4333-8444-555555555555"


@dataclass(frozen=True, slots=True)
class Managers:
    """Work as soon as they are told to."""

    work: Callable[[], None]

    def wake(self) -> None:
        self.work()


def working(world: World) -> Context:
    """Return the context beside managers that run."""
    return replace(world.context, waker=Managers(world.work))


def in_error(world: World) -> dict[str, str]:
    """Return a lease whose start was refused once."""
    lease = world.create("now", 60)
    with world.failing("compute.create_aggregate", status=400):
        world.work()
    assert world.status(lease) == "ERROR"
    return lease


class TestHistory:
    def test_all_that_happened_is_printed(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        lease = world.create("now", 10)
        world.pass_time(11)

        assert leases.history(world.context, Namespace(lease_id=lease["id"])) == 0

        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"2031-01-01 00:00:20  create  ({LESSEE.user} {_request_of(lines[0])})"
        assert [each.split("  ")[2] for each in lines if "  lease.status  " in each] == [
            "PENDING -> STARTING",
            "STARTING -> ACTIVE",
            "ACTIVE -> TERMINATING",
            "TERMINATING -> TERMINATED",
        ]
        reservation = lease["reservations"][0]["id"]
        assert any(f"reservation.status  {reservation}  pending -> active" in each for each in lines)

    def test_of_a_lease_that_is_gone_too(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        lease = world.create(60, 120)
        world.delete(f"/leases/{lease['id']}")

        assert leases.history(world.context, Namespace(lease_id=lease["id"])) == 0
        assert "  delete  " in capsys.readouterr().out

    def test_weakness_51_why_a_lease_is_in_error_can_be_read(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = in_error(world)

        leases.history(world.context, Namespace(lease_id=lease["id"]))

        assert "pending -> error: compute.create_aggregate failed by script" in capsys.readouterr().out

    def test_of_nothing(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        assert leases.history(world.context, Namespace(lease_id=NOBODY)) == 1
        assert NOBODY in capsys.readouterr().err


class TestRetry:
    def test_what_is_in_error_is_tried_again(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        lease = in_error(world)

        assert leases.retry(world.context, Namespace(lease_id=lease["id"])) == 0

        assert "compute.create_aggregate failed by script" in capsys.readouterr().out
        world.work()
        assert world.status(lease) == "ACTIVE"

    def test_nothing_is_changed_where_nothing_is_in_error(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = world.create("now", 60)
        world.work()
        before = world.snapshot()

        assert leases.retry(world.context, Namespace(lease_id=lease["id"])) == 1

        assert "is ACTIVE" in capsys.readouterr().err
        assert world.snapshot() == before

    def test_an_unknown_lease_is_said_to_be_unknown(self, world: World) -> None:
        with pytest.raises(LeaseNotFound):
            leases.retry(world.context, Namespace(lease_id=NOBODY))


class TestRepair:
    def test_what_somebody_took_away_is_made_again(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = world.create("now", 60)
        world.work()
        (host,) = world.members(lease)
        aggregate = next(
            each
            for each in world.cloud.compute.list_aggregates()
            if each.name == lease["reservations"][0]["id"]
        )
        world.cloud.compute.remove_host(aggregate.id, host)

        assert leases.repair(working(world), Namespace(lease_id=lease["id"], wait=5)) == 0

        assert world.members(lease) == {host}
        assert capsys.readouterr().out.endswith(f"{lease['id']} is ACTIVE\n")

    def test_what_is_still_amiss_is_said(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        lease = in_error(world)

        assert leases.repair(working(world), Namespace(lease_id=lease["id"], wait=5)) == 1

        said = capsys.readouterr().out
        assert f"{lease['id']} is ERROR" in said
        assert "failed by script" in said

    def test_without_a_manager_nobody_looks(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        lease = world.create("now", 60)

        assert leases.repair(world.context, Namespace(lease_id=lease["id"], wait=1)) == 1

        assert "was not looked at" in capsys.readouterr().err


class TestFloatingIPs:
    def test_they_are_compared_with_neutron_at_once(
        self, world: World, pool: Pool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pool.register(1, 2)
        assert floatingips.compare(world.context, Namespace()) == 0
        assert capsys.readouterr().out == "2 floating IPs were compared with Neutron, 0 have failed\n"
        found = world.cloud.networks.create_floating_ip(
            pool.network_id, pool.subnet_id, address(1), "stranger"
        )

        assert floatingips.compare(world.context, Namespace()) == 1
        assert f"{address(1)} is in use in Neutron: floating IP {found.id}" in capsys.readouterr().out

        floatingips.list_floatingips(world.context, Namespace())
        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith(f"{address(1)} of network {pool.network_id} is failed: ")
        assert second == f"{address(2)} of network {pool.network_id} is sound"


class TestSweep:
    @pytest.fixture(autouse=True)
    def leftover(self, world: World) -> None:
        know_a_lease(world.context.store)
        world.cloud.compute.create_aggregate(NOBODY, f"blazar_{NOBODY}", {"blazar:owner": "project"})

    def test_a_dry_run_says_what_there_is_and_does_nothing(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = world.snapshot()

        assert sweeping.sweep(world.context, Namespace(dry_run=True)) == 0

        assert capsys.readouterr().out == f"aggregate:{NOBODY}\n1 left over\n"
        assert world.snapshot() == before

    def test_a_manager_removes_it_when_it_has_seen_it_twice(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert sweeping.sweep(working(world), Namespace(dry_run=False)) == 0

        assert "after 10 minutes" in capsys.readouterr().out
        assert NOBODY in world.aggregates()
        world.pass_time(11)
        assert NOBODY not in world.aggregates()

    def test_nothing_is_asked_of_managers_where_nothing_is_left(self, world: World) -> None:
        (found,) = (each for each in world.cloud.compute.list_aggregates() if each.name == NOBODY)
        world.cloud.compute.delete_aggregate(found.id)

        sweeping.sweep(world.context, Namespace(dry_run=False))

        with world.context.store.read() as transaction:
            assert not transaction.work.is_due(SWEEP, world.clock.now())


def _request_of(line: str) -> str:
    return line.rpartition(" ")[2].removesuffix(")")
