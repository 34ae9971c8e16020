"""The operators' commands of ``blazar-manage``, on leases, hosts, floating IPs, sweeps and the outbox."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from app.floatingips import Pool, address
from app.http_env import LESSEE, HttpEnv
from samples import know_a_lease

from blazar.booking.context import Context
from blazar.cmd.manage import leases, outbox, sweeping
from blazar.domain.errors import Conflict, LeaseNotFound
from blazar.plugins.floatingips import commands as floatingips
from blazar.plugins.hosts import commands as hosts
from blazar.reconcile.periodic.tasks import SWEEP

pytestmark = pytest.mark.usefixtures("hosts")

MISSING_ID = "11111111-2222-4333-8444-555555555555"


@dataclass(frozen=True, slots=True)
class Managers:
    """Waker that runs the managers' work at once."""

    work: Callable[[], None]

    def wake(self) -> None:
        self.work()


def working(env: HttpEnv) -> Context:
    """Return a context whose waker runs the managers' work."""
    return replace(env.context, waker=Managers(env.work))


def in_error(env: HttpEnv) -> dict[str, str]:
    """Return a lease whose first start was refused."""
    lease = env.create("now", 60)
    with env.failing("compute.create_aggregate", status=400):
        env.work()
    assert env.status(lease) == "ERROR"
    return lease


class TestHistory:
    def test_all_that_happened_is_printed(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = env.create("now", 10)
        env.pass_time(11)

        assert leases.history(env.context, Namespace(lease_id=lease["id"])) == 0

        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"2031-01-01 00:00:20 UTC  create  ({LESSEE.user} {_request_of(lines[0])})"
        assert [each.split("  ")[2] for each in lines if "  lease.status  " in each] == [
            "PENDING -> STARTING",
            "STARTING -> ACTIVE",
            "ACTIVE -> TERMINATING",
            "TERMINATING -> TERMINATED",
        ]
        reservation = lease["reservations"][0]["id"]
        assert any(f"reservation.status  {reservation}  pending -> active" in each for each in lines)

    def test_of_a_lease_by_its_name(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = env.create("now", 10)

        assert leases.history(env.context, Namespace(lease_id=lease["name"])) == 0

        assert "  create  " in capsys.readouterr().out

    def test_a_name_that_several_leases_have_is_refused_with_their_ids(self, env: HttpEnv) -> None:
        first, second = env.create("now", 10), env.create("now", 10)
        assert first["name"] == second["name"]

        with pytest.raises(Conflict, match=f"{first['id']}.*{second['id']}|{second['id']}.*{first['id']}"):
            leases.retry(env.context, Namespace(lease_id=first["name"]))

    def test_of_a_lease_that_is_gone_too(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = env.create(60, 120)
        env.delete(f"/leases/{lease['id']}")

        assert leases.history(env.context, Namespace(lease_id=lease["id"])) == 0
        assert "  delete  " in capsys.readouterr().out

    def test_weakness_51_why_a_lease_is_in_error_can_be_read(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = in_error(env)

        leases.history(env.context, Namespace(lease_id=lease["id"]))

        assert "pending -> error: compute.create_aggregate failed by script" in capsys.readouterr().out

    def test_of_nothing(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        assert leases.history(env.context, Namespace(lease_id=MISSING_ID)) == 1
        assert MISSING_ID in capsys.readouterr().err


class TestRetry:
    def test_what_is_in_error_is_tried_again(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = in_error(env)

        assert leases.retry(env.context, Namespace(lease_id=lease["id"])) == 0

        assert "compute.create_aggregate failed by script" in capsys.readouterr().out
        env.work()
        assert env.status(lease) == "ACTIVE"

    def test_nothing_is_changed_where_nothing_is_in_error(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = env.create("now", 60)
        env.work()
        before = env.snapshot()

        assert leases.retry(env.context, Namespace(lease_id=lease["id"])) == 1

        assert "is ACTIVE" in capsys.readouterr().err
        assert env.snapshot() == before

    def test_an_unknown_lease_is_said_to_be_unknown(self, env: HttpEnv) -> None:
        with pytest.raises(LeaseNotFound):
            leases.retry(env.context, Namespace(lease_id=MISSING_ID))


class TestRepair:
    def test_what_was_removed_by_hand_is_restored(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lease = env.create("now", 60)
        env.work()
        (host,) = env.members(lease)
        aggregate = next(
            each
            for each in env.cloud.aggregates.list_aggregates()
            if each.name == lease["reservations"][0]["id"]
        )
        env.cloud.aggregates.remove_host(aggregate.id, host)

        assert leases.repair(working(env), Namespace(lease_id=lease["id"], wait=5)) == 0

        assert env.members(lease) == {host}
        assert capsys.readouterr().out.endswith(f"{lease['id']} is ACTIVE\n")

    def test_remaining_problems_are_printed(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = in_error(env)

        assert leases.repair(working(env), Namespace(lease_id=lease["id"], wait=5)) == 1

        said = capsys.readouterr().out
        assert f"{lease['id']} is ERROR" in said
        assert "failed by script" in said

    def test_without_a_manager_it_times_out(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        lease = env.create("now", 60)

        assert leases.repair(env.context, Namespace(lease_id=lease["id"], wait=1)) == 1

        assert "was not reconciled in time" in capsys.readouterr().err


class TestHosts:
    def test_they_are_refreshed_by_name_or_id(self, env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
        hosts.list_hosts(env.context, Namespace(format="json"))
        ids = {each["hypervisor_hostname"]: each["id"] for each in json.loads(capsys.readouterr().out)}
        aggregate = env.cloud.add_aggregate("rack", "az2")
        env.cloud.aggregates.add_host(aggregate.id, "h2")

        assert hosts.refresh(env.context, Namespace(names=["h1", ids["h2"]])) == 0

        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith("h2: availability_zone")
        assert second == "2 hosts were read again, 1 have changed"

    def test_a_host_that_is_not_registered_is_named(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert hosts.refresh(env.context, Namespace(names=[MISSING_ID])) == 1

        assert capsys.readouterr().err == f"{MISSING_ID}: is not registered\n"


class TestFloatingIPs:
    def test_they_are_compared_with_neutron_at_once(
        self, env: HttpEnv, pool: Pool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pool.register(1, 2)
        assert floatingips.compare(env.context, Namespace()) == 0
        assert capsys.readouterr().out == "2 floating IPs were compared with Neutron, 0 have failed\n"
        found = env.cloud.networks.create_floating_ip(pool.network_id, pool.subnet_id, address(1), "stranger")

        assert floatingips.compare(env.context, Namespace()) == 1
        assert f"{address(1)} is in use in Neutron: floating IP {found.id}" in capsys.readouterr().out

        floatingips.list_floatingips(env.context, Namespace())
        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith(f"{address(1)} of network {pool.network_id} is failed: ")
        assert second == f"{address(2)} of network {pool.network_id} is sound"


class TestSweep:
    @pytest.fixture(autouse=True)
    def leftover(self, env: HttpEnv) -> None:
        know_a_lease(env.context.store)
        env.cloud.aggregates.create_aggregate(MISSING_ID, f"blazar_{MISSING_ID}", {"blazar:owner": "project"})

    def test_a_dry_run_says_what_there_is_and_does_nothing(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = env.snapshot()

        assert sweeping.sweep(env.context, Namespace(dry_run=True)) == 0

        assert capsys.readouterr().out == f"aggregate:{MISSING_ID}\n1 left over\n"
        assert env.snapshot() == before

    def test_a_manager_removes_it_when_it_has_seen_it_twice(
        self, env: HttpEnv, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert sweeping.sweep(working(env), Namespace(dry_run=False)) == 0

        assert "after 10 minutes" in capsys.readouterr().out
        assert MISSING_ID in env.aggregates()
        env.pass_time(11)
        assert MISSING_ID not in env.aggregates()

    def test_nothing_is_asked_of_managers_where_nothing_is_left(self, env: HttpEnv) -> None:
        (found,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == MISSING_ID)
        env.cloud.aggregates.delete_aggregate(found.id)

        sweeping.sweep(env.context, Namespace(dry_run=False))

        with env.context.store.read() as transaction:
            assert not transaction.work.is_due(SWEEP, env.clock.now())


def _request_of(line: str) -> str:
    return line.rpartition(" ")[2].removesuffix(")")


class TestOutbox:
    @pytest.fixture
    def given_up(self, env: HttpEnv) -> list[int]:
        """Two messages whose delivery has failed permanently."""
        env.create(60, 120)
        env.create(60, 120)
        with env.context.store.begin() as transaction:
            found = [each.id for each in transaction.outbox.list(failed=False, limit=9)]
            for each in found:
                transaction.outbox.fail(each, env.clock.now(), "the bus refused it")
            transaction.commit()
        env.work()
        return found

    def test_what_was_given_up_is_listed_and_shown(
        self, env: HttpEnv, given_up: list[int], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert outbox.list_messages(env.context, Namespace(waiting=False, limit=10)) == 0
        *listed, summary = capsys.readouterr().out.splitlines()
        assert [each.split("  ")[0] for each in listed] == [str(each) for each in given_up]
        assert all("lease.create" in each and "the bus refused it" in each for each in listed)
        assert summary == "2 messages failed"

        assert outbox.show(env.context, Namespace(id=given_up[0])) == 0
        assert '"status": "PENDING"' in capsys.readouterr().out
        assert outbox.show(env.context, Namespace(id=999)) == 1

    def test_it_is_sent_again(self, env: HttpEnv, given_up: list[int]) -> None:
        sent = len(env.sent.payloads)

        assert outbox.resend(env.context, Namespace(ids=[given_up[0], 999], all=False)) == 1
        env.work()
        assert len(env.sent.payloads) == sent + 1

        assert outbox.resend(env.context, Namespace(ids=[], all=True)) == 0
        env.work()
        assert len(env.sent.payloads) == sent + 2

    def test_it_is_deleted(self, env: HttpEnv, given_up: list[int]) -> None:
        assert outbox.purge(env.context, Namespace(ids=given_up[:1], all=False)) == 0
        with env.context.store.read() as transaction:
            assert [each.id for each in transaction.outbox.list(failed=True, limit=9)] == given_up[1:]

        assert outbox.purge(env.context, Namespace(ids=[], all=True)) == 0
        with env.context.store.read() as transaction:
            assert transaction.outbox.list(failed=True, limit=9) == ()

    def test_nothing_is_done_where_nothing_is_named(self, env: HttpEnv, given_up: list[int]) -> None:
        assert outbox.purge(env.context, Namespace(ids=[], all=False)) == 1
        with env.context.store.read() as transaction:
            assert len(transaction.outbox.list(failed=True, limit=9)) == 2
