"""A restored backup: the cloud keeps what happened in the day that the database lost."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from app.conftest import without_failures
from app.floatingips import make_pool
from app.http_env import FREEPOOL, NEWER, STRANGER, HttpEnv, Json, good
from app.slots import instances
from backups import Backups
from clocks import EPOCH
from databases import make_database

from blazar.cmd.manage import restoring
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.reconcile.sweep import find_leftovers

DAY = 24 * 60
HOSTS = ("h1", "h2", "h3", "h4", "h5", "h6", "h7")


class Restorable:
    """A service whose database can be backed up and restored."""

    def __init__(self, kind: str, engine: sa.Engine, folder: Path) -> None:
        self.env = HttpEnv(engine, folder)
        self.backups = Backups(kind, engine, folder)
        self.hosts = dict(zip(HOSTS, self.env.register(*HOSTS), strict=True))

    def lease(self, host: str, start: float | str, end: float, **more: Any) -> Json:
        """Return a lease of a host."""
        return self.env.create(start, end, **on(host), **more)

    def restore(self) -> None:
        self.backups.restore()
        self.env.forget_indexes()

    def command(self, capsys: pytest.CaptureFixture[str], *, dry_run: bool = False) -> Json:
        """Run the command of the guide and return its document."""
        capsys.readouterr()
        arguments = Namespace(dry_run=dry_run, format="json")
        assert restoring.restored(self.env.context, arguments) == 0
        found: Json = json.loads(capsys.readouterr().out)
        return found

    def run_to(self, minutes: float) -> None:
        self.env.clock.set(EPOCH + timedelta(minutes=minutes))
        self.env.work()
        self.check_nothing_is_twice()

    def sweep(self) -> None:
        self.env.clock.advance(timedelta(minutes=61))
        with self.env.context.store.begin() as transaction:
            transaction.work.schedule([SWEEP], self.env.clock.now())
            transaction.commit()
        self.env.work()
        self.check_nothing_is_twice()

    def check_nothing_is_twice(self) -> None:
        """Fail if a host is in the aggregates of two reservations, or in one of them and the freepool."""
        found = self.env.aggregates()
        zones = {each.name: each.availability_zone for each in self.env.cloud.aggregates.list_aggregates()}
        places = [host for name, hosts in found.items() if zones[name] or name == FREEPOOL for host in hosts]
        assert len(places) == len(set(places)), found


def on(host: str) -> Json:
    return {"resource_properties": f'["==", "$hypervisor_hostname", "{host}"]'}


@pytest.fixture(params=["mariadb", "postgresql"])
def restorable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restorable]:
    with make_database(request.param, tmp_path) as engine, without_failures():
        yield Restorable(request.param, engine, tmp_path)


@pytest.fixture
def leases(restorable: Restorable) -> dict[str, Json]:
    """Restore the database of a day before, and return the leases by what happened to them in that day."""
    env = restorable.env
    addresses = make_pool(env)
    addresses.register(1, 2)
    known = {
        "running": restorable.lease("h1", "now", 3 * DAY),
        "deleted": restorable.lease("h2", "now", 3 * DAY),
        "started": restorable.lease("h3", DAY / 2, 3 * DAY),
        "passed": restorable.lease("h4", DAY / 4, DAY / 2),
        "extended": restorable.lease("h7", "now", DAY / 2),
    }
    env.pass_time(5)
    restorable.backups.make()

    good(env.delete(f"/leases/{known['deleted']['id']}"), 204)
    env.work()
    address = good(env.post("/leases", {**env.wish(6, 3 * DAY), "reservations": [addresses.asked(1)]}), 201)
    lost = {
        "other": restorable.lease("h2", "now", 3 * DAY, who=STRANGER),
        "small": env.create("now", 3 * DAY, asked=instances(amount=1, **on("h5"))),
        "address": address["lease"],
    }
    env.change(known["extended"], end_date=env.date(3 * DAY))
    for minutes in (10, DAY / 4, DAY / 2, DAY):
        restorable.run_to(minutes)
    for name in ("running", "started", "extended"):
        assert env.status(known[name]) == "ACTIVE"
    assert [env.status(each) for each in lost.values()] == ["ACTIVE"] * 3

    restorable.restore()
    return {**known, **lost}


LOST = ("other", "small", "address")


def test_the_command_names_the_leases_that_need_a_decision(
    restorable: Restorable, leases: dict[str, Json], capsys: pytest.CaptureFixture[str]
) -> None:
    before = restorable.env.snapshot()
    preview = restorable.command(capsys, dry_run=True)
    assert restorable.env.snapshot() == before

    done = restorable.command(capsys)

    assert done == {**preview, "is_prepared": True}
    lost = {leases[name]["reservations"][0]["id"] for name in LOST}
    assert {each["reservation_id"] for each in done["unknown"]} == lost
    assert [each["id"] for each in done["ending"]] == [leases["extended"]["id"]]
    assert done["leases"] == 5


def test_every_lease_is_compared_with_the_cloud_when_a_manager_starts(
    restorable: Restorable, leases: dict[str, Json], capsys: pytest.CaptureFixture[str]
) -> None:
    env = restorable.env
    restorable.command(capsys)

    restorable.run_to(DAY + 1)

    assert {name: env.status(each) for name, each in leases.items() if name not in LOST} == {
        "running": "ACTIVE",
        "deleted": "ACTIVE",
        "started": "ACTIVE",
        "passed": "TERMINATED",
        "extended": "TERMINATED",
    }
    # The host of the lease that was deleted is still that of a lease which the database does not know.
    held = {name: sorted(env.members(leases[name])) for name in ("running", "started", "deleted", "other")}
    assert held == {"running": ["h1"], "started": ["h3"], "deleted": [], "other": ["h2"]}
    assert restorable.env.aggregates().keys() >= {leases["deleted"]["reservations"][0]["id"]}


def test_nothing_is_reserved_twice_and_nothing_is_left_over(
    restorable: Restorable, leases: dict[str, Json], capsys: pytest.CaptureFixture[str]
) -> None:
    env = restorable.env
    restorable.command(capsys)
    restorable.run_to(DAY + 1)
    new = env.create("now", 2 * DAY, min=2, max=2)
    restorable.run_to(DAY + 2)
    assert (env.status(new), len(env.members(new))) == ("ACTIVE", 2)

    for _ in range(3):
        restorable.sweep()

    assert find_leftovers(env.context) == ()
    assert not {leases[name]["reservations"][0]["id"] for name in LOST} & env.aggregates().keys()
    assert env.members(leases["deleted"]) == {"h2"}
    for each in (leases["deleted"], new):
        good(env.delete(f"/leases/{each['id']}"), 204)
    env.work()
    assert env.aggregates()[FREEPOOL] == set(HOSTS) - {"h1", "h3"}


def test_servers_of_a_lost_lease_keep_its_host_until_they_are_deleted(
    restorable: Restorable, capsys: pytest.CaptureFixture[str]
) -> None:
    env = restorable.env
    restorable.lease("h1", "now", 3 * DAY)
    env.work()
    restorable.backups.make()
    lost = restorable.lease("h2", "now", 3 * DAY)
    env.work()
    server = env.cloud.boot_server("web", "project", service_host="h2")

    restorable.restore()
    restorable.command(capsys)
    for _ in range(3):
        restorable.sweep()

    assert env.members(lost) == {"h2"}
    assert find_leftovers(env.context) == (f"aggregate:{lost['reservations'][0]['id']}",)
    env.cloud.servers.delete_server(server.id)
    restorable.sweep()
    restorable.sweep()
    assert find_leftovers(env.context) == ()
    assert "h2" in env.aggregates()[FREEPOOL]


def test_without_differences_the_command_says_so(
    restorable: Restorable, capsys: pytest.CaptureFixture[str]
) -> None:
    restorable.lease("h1", "now", 60)
    restorable.env.work()

    for dry_run in (True, False):
        assert restoring.restored(restorable.env.context, Namespace(dry_run=dry_run)) == 0

    assert capsys.readouterr().out.splitlines() == [
        "no difference needs a decision",
        "no difference needs a decision",
        "leases that a manager compares with the cloud when it starts: 1",
    ]


def test_tags_that_clients_keep_are_outdated(
    restorable: Restorable, capsys: pytest.CaptureFixture[str]
) -> None:
    env = restorable.env
    query = {"resource_type": "physical:host", "from": env.date(5), "to": env.date(600)}
    restorable.backups.make()
    restorable.lease("h1", 10, 20)
    tag = env.get("/availability", params=query, headers=NEWER).headers["ETag"]

    restorable.restore()
    restorable.command(capsys)
    # As many bookings of the same host as before: each raised its generation by one.
    restorable.lease("h1", 30, 40)
    answer = env.get("/availability", params=query, headers={**NEWER, "If-None-Match": tag})

    assert answer.status_code == 200
    assert answer.headers["ETag"] != tag


def test_a_manager_that_was_not_stopped_cannot_write_with_its_claim(
    restorable: Restorable, capsys: pytest.CaptureFixture[str]
) -> None:
    store, now = restorable.env.context.store, restorable.env.clock.now()
    deadline = now + timedelta(minutes=1)
    with store.begin() as transaction:
        transaction.work.schedule(["lease"], now)
        transaction.commit()
    restorable.backups.make()
    with store.begin() as transaction:
        old = transaction.work.take("lease", "old", now, deadline)
        transaction.commit()

    restorable.restore()
    restorable.command(capsys)
    with store.begin() as transaction:
        new = transaction.work.take("lease", "new", now, deadline)
        transaction.commit()

    assert old is not None
    assert new is not None
    assert old.number != new.number
