"""The history of a lease, as its owner reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from app.http_env import (
    ADMIN,
    LESSEE,
    NEWER,
    READER,
    STRANGER,
    HttpEnv,
    Json,
    Who,
    good,
    host_reservation,
    refusal,
)
from clocks import EPOCH

from blazar.app.leases import plan, read
from blazar.booking.context import Plugin
from blazar.booking.history import history_view
from blazar.booking.reasons import UNKNOWN, reason_for_lessee
from blazar.domain.lease import LeaseId
from blazar.plugins.hosts.plugin import Hosts
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.networks.plugin import Networks
from blazar.plugins.volumes.plugin import Volumes
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.journal import LONGEST_REASON, JournalEntry

PLUGINS = {
    each.resource_type: each for each in (Hosts(HostSettings()), Networks(), Volumes(VolumeSettings()))
}


def history(env: HttpEnv, lease: Json, who: Who = LESSEE) -> list[Json]:
    found: list[Json] = good(env.get(f"/leases/{lease['id']}/history", who=who, headers=NEWER))["history"]
    return found


def texts(env: HttpEnv, lease: Json) -> list[str]:
    return [each["text"] for each in history(env, lease)]


@pytest.mark.usefixtures("hosts")
def test_the_owner_reads_the_whole_life_of_a_lease(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    env.work()
    env.change(lease, end_date=env.date(30))
    env.change(lease, name="day")
    env.pass_time(31)

    found = texts(env, lease)

    assert found == [
        "The lease was created.",
        "The lease is starting.",
        "The lease is active.",
        "The resources of the reservation are ready.",
        "The end of the lease was announced.",
        f"The lease was changed: end moved from {env.date(60)} to {env.date(30)}.",
        "The lease was renamed.",
        "The lease is ending.",
        "The lease has ended.",
        "The resources of the reservation were released.",
    ]
    assert history(env, lease, READER) == history(env, lease, ADMIN) == history(env, lease)
    assert {each["reservation_id"] for each in history(env, lease)} == {None, lease["reservations"][0]["id"]}


@pytest.mark.usefixtures("hosts")
def test_the_owner_reads_which_resources_a_change_added_and_released(env: HttpEnv) -> None:
    lease = env.create(20, 60, asked=host_reservation(min=2, max=2))
    path, first = f"/leases/{lease['id']}", lease["reservations"][0]["id"]

    for change in (
        {"id": first, "min": 1, "max": 1},
        host_reservation(min=1, max=1),
        {"id": first, "max": 1},
        {"id": first, "max": 1},
        {"id": first, "remove": True},
    ):
        good(env.put(path, {"reservations": [change]}, who=LESSEE, headers=NEWER))

    assert texts(env, lease) == [
        "The lease was created.",
        "The lease was changed: 1 resource released.",
        "The lease was changed: 1 reservation added, 1 resource added.",
        "The lease was changed.",
        "The lease was changed.",
        "The lease was changed: 1 reservation removed, 1 resource released.",
    ]


def journal(env: HttpEnv, lease: Json, event: str = "update") -> list[str]:
    """Return the reasons of a lease's entries with an event."""
    with env.context.store.read() as transaction:
        return [each.reason for each in transaction.journal.list(lease["id"]) if each.event == event]


@pytest.mark.usefixtures("hosts")
def test_the_journal_has_ordinary_requirements_in_full(env: HttpEnv) -> None:
    lease = env.create(20, 60)
    asked = " " * 900 + '[">=", "$vcpus", "1"]'

    env.change(lease, end_date=env.date(90), reservation={"resource_properties": asked})

    (reason,) = journal(env, lease)
    assert asked in reason
    assert reason.startswith(f"end: {env.date(60)} -> {env.date(90)}; reservation ")


@pytest.mark.usefixtures("hosts")
def test_the_journal_shortens_long_requirements(env: HttpEnv) -> None:
    lease = env.create(20, 60)
    keys = ("hypervisor_properties", "resource_properties")

    for number in range(10_000, 10_003):
        asked = '[">=", "$vcpus", "1"]' + " " * number
        env.change(lease, end_date=env.date(number), reservation=dict.fromkeys(keys, asked))

    for reason in journal(env, lease):
        assert reason.count('[">=", "$vcpus", "1"]') == reason.count("…") == 2
        assert len(reason) < 2_500
    assert texts(env, lease)[-1].startswith("The lease was changed: end moved from ")


@pytest.mark.usefixtures("hosts")
def test_an_entry_about_many_reservations_is_shortened(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LONGEST_REASON", 5_000)
    body = {**env.wish(20, 60), "reservations": [host_reservation(min=1, max=1)] * 3}
    lease = good(env.post("/leases", body, who=LESSEE, headers=NEWER), 201)["lease"]
    long = '[">=", "$vcpus", "1"]' + " " * 10_000
    changes = [
        {"id": each["id"], "hypervisor_properties": long, "resource_properties": long}
        for each in lease["reservations"]
    ]

    good(env.put(f"/leases/{lease['id']}", {"reservations": changes}, who=LESSEE, headers=NEWER))

    (reason,) = journal(env, lease)
    assert len(reason) == 5_000
    assert reason.endswith("…")


@pytest.mark.usefixtures("hosts")
def test_a_history_is_made_from_the_latest_entries(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_ENTRIES", 3)
    lease = env.create(20, 60)
    for end in range(61, 66):
        env.change(lease, end_date=env.date(end))

    found = texts(env, lease)

    assert len(found) == 3
    assert found[-1] == f"The lease was changed: end moved from {env.date(64)} to {env.date(65)}."


@pytest.mark.usefixtures("hosts")
def test_a_history_reads_no_more_of_a_lease_than_it_shows(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = env.create(20, 60)
    old = JournalEntry(
        at=EPOCH, lease_id=LeaseId(lease["id"]), event="update", reason="end: x" + " " * 90_000
    )
    with env.context.store.begin() as transaction:
        transaction.journal.append([old, replace(old, event="claims.released")])
        transaction.commit()
    entries: list[JournalEntry] = []

    def note(found: Iterable[JournalEntry], plugins: Mapping[str, Plugin]) -> object:
        entries.extend(found)
        return history_view(entries, plugins)

    monkeypatch.setattr(read, "history_view", note)

    assert texts(env, lease) == ["The lease was created.", "The lease was changed."]
    assert {each.event for each in entries} == {"create", "update"}
    assert [len(each.reason) for each in entries] == [0, LONGEST_REASON]


@pytest.mark.usefixtures("hosts")
def test_the_history_names_no_user_and_no_manager(env: HttpEnv) -> None:
    lease = env.create("now", 5)
    env.work()

    shown = str(history(env, lease, ADMIN))

    assert "manager" not in shown
    assert "user" not in shown


@pytest.mark.usefixtures("hosts")
def test_others_read_nothing_of_it(env: HttpEnv) -> None:
    lease = env.create("now", 60)
    path = f"/leases/{lease['id']}/history"

    assert "blazar:leases:get" in refusal(env.get(path, who=STRANGER, headers=NEWER), 403)
    refusal(env.get("/leases/nowhere/history", who=LESSEE, headers=NEWER), 404)
    assert env.get(path, who=LESSEE).status_code == 404
    env.set_policy({"blazar:leases:get_history": "rule:admin"})
    assert "blazar:leases:get_history" in refusal(env.get(path, who=LESSEE, headers=NEWER), 403)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("resource 7 was not released yet by reservation R", "an earlier user still holds a resource"),
        ("host h1 is in the aggregate of another reservation, R", "an earlier user still holds a resource"),
        (
            "preemptible servers are being deleted: secret",
            "servers of others are being removed from a resource",
        ),
        (
            "network secret is being deleted: one or more ports are still in use",
            "a network is being deleted with everything that is on it",
        ),
        (
            "segment secret is in use in Neutron: network secret",
            "a resource is in use outside of all reservations",
        ),
        ("volumes of others have 5 GiB of pool secret", "a resource is in use outside of all reservations"),
        (
            "volumes of other users occupy 5 GiB of pool secret",
            "a resource is in use outside of all reservations",
        ),
        (
            "volumes are frozen until 2031-01-01 10:00 UTC: secret",
            "volumes are kept without access until 2031-01-01 10:00 UTC",
        ),
        (
            "Quota exceeded for resources: secret",
            "a quota of the project in another service is used up",
        ),
        ("the cloud does not respond: secret", "the cloud does not respond"),
        ("its stored spec is damaged: it", "its stored data are damaged; it can only be deleted"),
        ("before-end action: secret", "the action before the end of the lease has not succeeded"),
        ("secret", UNKNOWN),
    ],
)
def test_a_problem_is_told_without_its_details(problem: str, reason: str) -> None:
    assert reason_for_lessee(problem, PLUGINS) == reason
    entries = [
        JournalEntry(at=EPOCH, lease_id=LeaseId("l"), event=event, reason=f"{prefix}{problem}")
        for event, prefix in (
            ("reservation.waits", ""),
            ("reservation.waits", ""),
            ("reservation.status", "pending -> error: "),
            ("reservation.replaced", "secret -> nothing: "),
            ("import.finding", "secret"),
        )
    ]
    assert [each["text"] for each in history_view(entries, PLUGINS)] == [
        f"The reservation waits: {reason}.",
        f"The reservation failed: {reason}.",
    ]
