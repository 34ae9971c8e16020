"""``blazar-manage what-if`` on a simulated cloud."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import ADMIN, NEWER, HttpEnv, Json, good, host_reservation, quiet_settings
from app.maintaining import maintain, rack
from app.slots import instances
from planning.running import DAY, run, run_json

from blazar.cmd.problems import run as run_program
from blazar.domain.errors import InvalidParameter

LeaseWriter = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> LeaseWriter:
    """Return a function that writes a lease into a file."""

    def write(name: str, start: str, end: str, *reservations: Json, **keys: object) -> Path:
        path = tmp_path / f"{name}.json"
        body = {"name": name, "start_date": start, "end_date": end, "reservations": reservations, **keys}
        path.write_text(json.dumps(body))
        return path

    return write


class TestClosing:
    def test_it_is_what_maintenance_would_do(self, racks: HttpEnv) -> None:
        begun = racks.create("now", 2 * DAY, **rack("r1"))
        moving = racks.create(DAY, 3 * DAY, max=2, min=2)
        bound = racks.create(3 * DAY, 4 * DAY, max=2, min=2, **rack("r1"))
        slots = racks.create(DAY, 2 * DAY, asked=instances(amount=4))
        racks.work()
        window = f"--between now --and '{racks.date(10 * DAY)}'"

        found = run_json(racks, f"what-if --close rack=r1 {window}")

        preview = maintain(
            racks, filter="rack=r1", end_date=racks.date(10 * DAY), status=200, params={"dry_run": "true"}
        )
        assert _ids(found["keeping"]) == _ids(preview["active"]) == {begun["id"]}
        assert _ids(found["failing"]) == _ids(preview["unmovable"]) == {bound["id"]}
        assert _ids(found["moves"]) == _ids(preview["moves"]) <= {moving["id"], slots["id"]}
        assert {(each["lease_id"], *each["removed"], "->", *each["added"]) for each in found["moves"]} == {
            (each["lease_id"], *_names(each["from"]), "->", *_names(each["to"])) for each in preview["moves"]
        }

    def test_added_hosts_take_what_would_fail(self, racks: HttpEnv) -> None:
        lease = racks.create(DAY, 2 * DAY, max=2, min=2, **rack("r1"))
        racks.create(DAY, 2 * DAY, max=4, min=4)

        without = run_json(racks, "what-if --close hypervisor_hostname=h1a")
        found = run_json(racks, "what-if --close hypervisor_hostname=h1a --add 1 --like h1b")

        assert _ids(without["failing"]) == {lease["id"]}
        assert found["failing"] == []
        assert found["added"] == ["h1b-new-1"]
        assert [(each["removed"], each["added"]) for each in found["moves"]] == [(["h1a"], ["h1b-new-1"])]

    def test_an_added_host_can_have_other_properties(self, racks: HttpEnv) -> None:
        lease = racks.create(DAY, 2 * DAY, max=2, min=2, **rack("r1"))
        racks.create(DAY, 2 * DAY, max=4, min=4)

        found = run_json(racks, "what-if --close hypervisor_hostname=h1a --add 1 --like h1b --with rack=r9")

        assert _ids(found["failing"]) == {lease["id"]}

    def test_leases_outside_the_window_stay(self, racks: HttpEnv) -> None:
        racks.create(5 * DAY, 6 * DAY, max=2, min=2, **rack("r1"))

        found = run_json(
            racks, f"what-if --close rack=r1 --between '{racks.date(DAY)}' --and '{racks.date(5 * DAY)}'"
        )

        assert (found["moves"], found["failing"], found["keeping"]) == ([], [], [])
        assert found["closed"] == ["h1a", "h1b"]

    def test_nothing_is_stored(self, racks: HttpEnv, written: LeaseWriter) -> None:
        racks.create(DAY, 2 * DAY, max=2, min=2)
        path = written("new", racks.date(DAY), racks.date(2 * DAY), host_reservation())
        racks.work()
        before = racks.snapshot()

        text = run(racks, f"what-if --add 2 --like h1a --close rack=r1 --lease {path}")

        assert "This is a copy of the data: nothing was changed." in text
        assert racks.snapshot() == before
        assert len(good(racks.get("/os-hosts"))["hosts"]) == 6


class TestNewLeases:
    def test_each_one_finds_what_those_before_it_left(self, racks: HttpEnv, written: LeaseWriter) -> None:
        racks.create(DAY, 3 * DAY, max=3, min=3)
        times = (racks.date(DAY), racks.date(2 * DAY))
        three = host_reservation(min=3, max=3)
        first, second = written("first", *times, three), written("second", *times, host_reservation())

        found = run_json(racks, f"what-if --lease {first} --lease {second}")["leases"]
        larger = run_json(racks, f"what-if --lease {first} --lease {second} --add 1 --like h1a")["leases"]

        assert [each["fits"] for each in found] == [True, False]
        assert len(found[0]["resources"]) == 3
        assert found[1]["reason"].startswith("Not enough hosts available: 1 asked for (min), 0 fit")
        assert [each["fits"] for each in larger] == [True, True]

    def test_a_closed_host_is_not_available(self, racks: HttpEnv, written: LeaseWriter) -> None:
        path = written("in-r1", racks.date(DAY), racks.date(2 * DAY), host_reservation(**rack("r1")))

        (open_one,) = run_json(racks, f"what-if --lease {path}")["leases"]
        (closed_one,) = run_json(racks, f"what-if --lease {path} --close rack=r1")["leases"]

        assert (open_one["fits"], closed_one["fits"]) == (True, False)

    @pytest.mark.parametrize(
        ("written_as", "start"),
        [
            ("2031-01-02 20:00:00", "2031-01-02T20:00:00Z"),
            ("2031-01-02 20:00:00+02:00", "2031-01-02T18:00:00Z"),
        ],
    )
    def test_a_date_of_yaml_may_have_a_time_zone(
        self, racks: HttpEnv, tmp_path: Path, written_as: str, start: str
    ) -> None:
        path = tmp_path / "lease.yaml"
        path.write_text(f"name: a\nstart_date: {written_as}\nend_date: 2031-01-03 00:00:00Z\n")

        (found,) = run_json(racks, f"what-if --lease {path}")["leases"]

        assert found["start"] == start

    def test_a_file_of_yaml_may_have_several_leases_with_instances(
        self, racks: HttpEnv, tmp_path: Path
    ) -> None:
        path = tmp_path / "leases.yaml"
        one = {"start_date": racks.date(DAY), "end_date": racks.date(2 * DAY), "project_id": "physics"}
        path.write_text(
            json.dumps(
                [
                    {**one, "name": "a", "reservations": [instances(amount=96), host_reservation()]},
                    {**one, "name": "b", "reservations": [instances(amount=90)]},
                ]
            )
        )

        found = run_json(racks, f"what-if --lease {path}")["leases"]

        assert [(each["name"], each["fits"]) for each in found] == [("a", False), ("b", True)]
        assert [each["source"] for each in found] == [f"{path}, lease 1", f"{path}, lease 2"]


class TestUtilisation:
    def test_it_is_the_reserved_share_of_the_time_in_which_hosts_can_be_reserved(
        self, racks: HttpEnv
    ) -> None:
        racks.create(2 * DAY, 4 * DAY, max=3, min=3)
        window = f"--between '{racks.date(DAY)}' --and '{racks.date(3 * DAY)}'"

        found = run_json(racks, f"what-if --close rack=r3 --add 4 --like h1a {window}")

        before, after = found["utilisation_before"], found["utilisation_after"]
        assert before == {"hosts": 6, "host_hours": 288, "reserved_hours": 72, "peak": 3}
        assert after == {"hosts": 10, "host_hours": 8 * 48, "reserved_hours": 72, "peak": 3}
        assert found["utilisation_before_percent"] == 25
        assert found["utilisation_after_percent"] == 18.75

    def test_bookings_of_closed_hosts_do_not_count(self, racks: HttpEnv) -> None:
        racks.create(DAY, 3 * DAY, max=6, min=6)
        window = f"--between '{racks.date(DAY)}' --and '{racks.date(3 * DAY)}'"

        found = run_json(racks, f"what-if --close rack=r3 {window}")

        before, after = found["utilisation_before"], found["utilisation_after"]
        assert len(found["failing"]) == 1
        assert (before["reserved_hours"], before["peak"]) == (6 * 48, 6)
        assert (after["reserved_hours"], after["peak"]) == (after["host_hours"], 6 - len(found["closed"]))
        assert found["utilisation_after_percent"] == 100


class TestReplay:
    @pytest.mark.parametrize("seed", range(6))
    def test_it_refuses_what_the_service_refuses(self, engine: sa.Engine, tmp_path: Path, seed: int) -> None:
        requests = _random_requests(random.Random(seed), 40)
        env, granted = _served(engine, tmp_path / "all", requests, ["r1", "r1", "r1", "r2", "r2"])
        found = run_json(env, "what-if --close rack=r2 --history-days 3")

        _, again = _served(engine, tmp_path / "fewer", granted, ["r1", "r1", "r1"])

        replayed = found["replay_after"]
        refused_then = _distinct([each for each in requests if each not in granted])
        assert (replayed["requests"], replayed["hosts"]) == (len(granted) + len(refused_then), 3)
        assert replayed["refused_then"] == len(refused_then) > 0
        names = {each["name"] for each in granted} - {each["name"] for each in again}
        assert names
        # A request that was refused then may get what one that is refused now has left.
        assert {each["lease_name"] for each in replayed["refused"]} - refused_then == names
        assert {each["lease_name"] for each in found["replay_before"]["refused"]} == refused_then

    def test_more_hosts_grant_what_was_refused(self, racks: HttpEnv) -> None:
        racks.create(10, DAY, max=4, min=4)
        body = {**racks.wish(20, DAY), "name": "late", "reservations": [host_reservation(min=3, max=3)]}
        assert racks.post("/leases", body, who=ADMIN, headers=NEWER).status_code == 409
        racks.pass_time(DAY)

        found = run_json(racks, "what-if --add 1 --like h1a")

        before, after = found["replay_before"], found["replay_after"]
        assert [each["lease_name"] for each in before["refused"]] == ["late"]
        assert (found["refused_before_percent"], found["refused_after_percent"]) == (50, 0)
        assert after["peak"] == 7 > before["peak"]

    def test_the_utilisation_is_that_of_the_past(self, racks: HttpEnv) -> None:
        racks.create("now", DAY, max=3, min=3)
        racks.create("now", 2 * DAY)
        racks.pass_time(2 * DAY)

        found = run_json(racks, "what-if --close rack=r1 --history-days 2")

        # Four hosts are left.
        assert found["replay_before"]["utilisation_percent"] == pytest.approx(100 * 5 / 12, abs=0.05)
        assert found["replay_after"]["utilisation_percent"] == pytest.approx(100 * 5 / 8, abs=0.05)
        assert found["replay_after"]["peak"] == 4
        assert found["refused_after_percent"] == 0

    def test_a_request_gets_the_hosts_that_it_held(self, racks: HttpEnv) -> None:
        of_rack: Json = {"min": 2, "max": 2, "resource_properties": '["==", "$rack", "r1"]'}
        cancelled = racks.create(10, DAY, **of_rack)
        # It would choose a host of the first rack, if the rack were not reserved.
        racks.create(20, DAY)
        racks.delete(f"/leases/{cancelled['id']}")
        racks.create(30, DAY, **of_rack)
        racks.pass_time(DAY)

        found = run_json(racks, "what-if --add 1 --like h1a")

        assert (found["replay_before"]["requests"], found["replay_before"]["refused"]) == (2, [])

    def test_deleted_leases_are_requests_for_what_they_held(self, racks: HttpEnv) -> None:
        hosts = racks.create("now", DAY, max=3, min=3)
        slots = racks.create("now", DAY, asked=instances(memory_mb=16384, amount=6))
        racks.pass_time(DAY)
        for each in (hosts, slots):
            racks.delete(f"/leases/{each['id']}")
        racks.pass_time(DAY + 1)

        found = run_json(racks, "what-if --close rack=r1 --close hypervisor_hostname=h2a")

        assert found["replay_before"]["requests"] == found["replay_after"]["requests"] == 2
        assert found["replay_before"]["refused"] == []
        # Three hosts are left, for three hosts and two with six instances.
        (refused,) = found["replay_after"]["refused"]
        assert refused["lease_name"] == "(deleted)"
        assert refused["project_id"] == "project"


class TestBadInput:
    @pytest.mark.parametrize(
        ("line", "field"),
        [
            ("", "--add, --close, --lease"),
            ("--add 1", "--like"),
            ("--add 1 --like h99", "--like"),
            ("--add 0 --like h1a", "--add"),
            ("--like h1a", "--add"),
            ("--add 1 --like h1a --with rack", "--with"),
            ("--close shelf=1", "--close"),
            ("--close rack=r99", "--close"),
            ("--close 'rack='", "--close"),
            ("--close rack=r1 --between tomorrow", "--between"),
            ("--close rack=r1 --between '2030-01-01 00:00'", "--between"),
            ("--close rack=r1 --between '2031-01-03 00:00' --and '2031-01-02 00:00'", "--and"),
            ("--close rack=r1 --and never", "--and"),
            ("--close rack=r1 --history-days 0", "--history-days"),
            ("--lease /nowhere/lease.yaml", "--lease"),
        ],
    )
    def test_an_error_names_the_argument_and_the_exit_code_is_not_zero(
        self, racks: HttpEnv, line: str, field: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_program("blazar-manage", lambda: bool(run(racks, f"what-if {line}"))) == 1

        message = capsys.readouterr().err
        assert field in message
        assert message.startswith("blazar-manage: ")
        assert len(message.splitlines()) == 1

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"name: [", "is neither YAML nor JSON"),
            (b"\xff\xfe\x00", "is neither YAML nor JSON"),
            (b"just text", "must be a lease, or a list of leases"),
            (b"", "must be a lease, or a list of leases"),
            (b"[]", "must be a lease, or a list of leases"),
            (b"{}", "Missing parameter name, start_date, end_date"),
            (b"[" * 3000, "its values are nested too deeply"),
            (b"start_date: 2031-13-45 00:00:00", "month must be in 1..12"),
            (b"name: " + b"9" * 5000, "is neither YAML nor JSON: Exceeds the limit"),
            (
                b"{a: &a [x], project_id: [*a], name: b, start_date: now, end_date: '2031-01-03 00:00'}",
                "project_id: must be text",
            ),
            (b"{name: a, start_date: now, end_date: yesterday}", "yesterday is an invalid date"),
            (
                b"{name: a, start_date: now, end_date: '2031-01-03 00:00',"
                b" reservations: [{resource_type: x}]}",
                "resource_type: x is not supported",
            ),
            (
                b"{name: a, start_date: now, end_date: '2031-01-03 00:00',"
                b" reservations: [{resource_type: 'physical:host', min: 1, max: 1,"
                b" hypervisor_properties: '', resource_properties: 'shelf=1'}]}",
                "no host has a property named shelf",
            ),
        ],
    )
    def test_a_file_that_is_no_lease_is_named_with_the_problem(
        self, racks: HttpEnv, tmp_path: Path, content: bytes, problem: str
    ) -> None:
        path = tmp_path / "lease.yaml"
        path.write_bytes(content)

        with pytest.raises(InvalidParameter, match=r"^--lease: ") as error:
            run(racks, f"what-if --lease {path}")

        assert str(path) in error.value.message
        assert problem in error.value.message


def _random_requests(chance: random.Random, number: int) -> list[Json]:
    """Return requests for the future, in the order in which they are made."""
    found = []
    for index in range(number):
        start = DAY + chance.randrange(0, 2 * DAY, 60)
        condition = chance.choice(["", "", '["==", "$rack", "r1"]'])
        asked_for = chance.choice(
            [
                host_reservation(min=1, max=chance.randint(1, 2), resource_properties=condition),
                instances(amount=chance.randint(1, 6), resource_properties=condition),
            ]
        )
        end = start + chance.choice([60, 240, DAY])
        found.append({"name": f"lease-{index}", "start": start, "end": end, "reservations": [asked_for]})
    return found


def _served(
    engine: sa.Engine, folder: Path, requests: list[Json], racks: list[str]
) -> tuple[HttpEnv, list[Json]]:
    """Return a service with a host in each of these racks, after requests, and those that it granted."""
    folder.mkdir()
    env = HttpEnv(engine, folder, quiet_settings())
    for number, rack_name in enumerate(racks):
        env.register(f"h{number}", rack=rack_name)
    granted = []
    for each in requests:
        env.clock.advance(timedelta(seconds=1))
        times = {"start_date": env.date(each["start"]), "end_date": env.date(each["end"])}
        body = {"name": each["name"], **times, "reservations": each["reservations"]}
        if env.post("/leases", body, who=ADMIN).status_code == 201:
            granted.append(each)
    env.clock.advance(timedelta(seconds=1))
    return env, granted


def _distinct(requests: list[Json]) -> set[str]:
    """Return the names of requests, of equal ones that of the first: it is recorded once."""
    first: dict[str, str] = {}
    for each in requests:
        first.setdefault(json.dumps({**each, "name": ""}, sort_keys=True), each["name"])
    return set(first.values())


def _ids(found: list[Json]) -> set[str]:
    return {each["lease_id"] for each in found}


def _names(found: list[Json]) -> list[str]:
    return sorted(each["name"] for each in found)
