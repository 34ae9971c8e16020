"""Functions of the served cloud beyond the contract of the ports, which ``cloud.served_lab`` tests."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import requests
from clocks import ManualClock

from blazar.cloud.simulated import Moment, SimulatedCloud
from blazar.cloud.simulated.furnishing import furnish
from blazar.ports.compute import Flavor
from rig.cloud import CloudControl, Fault, FaultKind, Kind, ServedCloud
from rig.cloud.identity import token_of

ADMIN = {"X-Auth-Token": token_of("blazar", "service")}
CLASSES = "/placement/resource_classes"
CREATE_CLASS = Kind("placement", "POST", "/resource_classes")


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    cloud = SimulatedCloud(ManualClock())
    furnish(cloud, hosts=2)
    with ServedCloud(cloud) as served:
        yield served


@pytest.fixture
def control(served: ServedCloud) -> Iterator[CloudControl]:
    control = CloudControl(served.url)
    yield control
    control.close()


@pytest.fixture
def free_process() -> Iterator[Callable[[list[str]], subprocess.Popen[str]]]:
    """Yield a function that starts a program; at the end of the test the program is killed if it runs."""
    started: list[subprocess.Popen[str]] = []

    def start(command: list[str]) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for each in started:
        with each:
            each.kill()


def create_class(served: ServedCloud, name: str, *, timeout: float = 10) -> int:
    answer = requests.post(f"{served.url}{CLASSES}", json={"name": name}, headers=ADMIN, timeout=timeout)
    return answer.status_code


def has_class(served: ServedCloud, name: str) -> bool:
    return served.cloud.placement.has_resource_class(name)


def test_calls_are_counted_by_what_they_ask_for(served: ServedCloud, control: CloudControl) -> None:
    for name in ("CUSTOM_A", "CUSTOM_B", "CUSTOM_B"):
        create_class(served, name)
    requests.get(f"{served.url}{CLASSES}/CUSTOM_A", headers=ADMIN, timeout=10)

    figures = control.figures()
    control.reset_figures()

    assert figures.calls == {CREATE_CLASS: 3, Kind("placement", "GET", "/resource_classes/{name}"): 1}
    assert figures.peak_concurrency == 1
    assert control.figures().calls == {}


def test_calls_that_take_their_time_overlap(served: ServedCloud, control: CloudControl) -> None:
    control.set_latency_ms(300)
    together = Barrier(8)

    def create(number: int) -> int:
        together.wait()
        return create_class(served, f"CUSTOM_{number}")

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(create, range(8)))

    assert statuses == [201] * 8
    assert control.figures().peak_concurrency > 1


def test_a_call_that_answers_a_status_is_not_done(served: ServedCloud, control: CloudControl) -> None:
    control.set_faults(Fault(kind=FaultKind.STATUS, service="placement", every=2, status=503))

    statuses = [create_class(served, f"CUSTOM_{number}") for number in range(4)]

    assert statuses == [201, 503, 201, 503]
    assert [has_class(served, f"CUSTOM_{number}") for number in range(4)] == [True, False, True, False]
    assert control.figures().faults == {FaultKind.STATUS: 2}


@pytest.mark.parametrize(("kind", "is_done"), [(FaultKind.CUT, False), (FaultKind.LOSE_REPLY, True)])
def test_a_connection_is_cut_before_or_after_the_call_is_done(
    served: ServedCloud, control: CloudControl, kind: FaultKind, is_done: bool
) -> None:
    control.set_faults(Fault(kind=kind, method="POST", route="/resource_classes", times=1))

    with pytest.raises(requests.ConnectionError):
        create_class(served, "CUSTOM_A")

    assert has_class(served, "CUSTOM_A") is is_done
    assert create_class(served, "CUSTOM_A") == (409 if is_done else 201)


@pytest.mark.parametrize(("when", "is_done"), [(Moment.BEFORE, False), (Moment.AFTER, True)])
def test_a_late_call_is_done_before_or_after_its_client_gives_up(
    served: ServedCloud, control: CloudControl, when: Moment, is_done: bool
) -> None:
    control.set_faults(Fault(kind=FaultKind.LATE, delay_seconds=60, when=when))

    with pytest.raises(requests.ReadTimeout):
        create_class(served, "CUSTOM_A", timeout=0.5)

    assert has_class(served, "CUSTOM_A") is is_done


@pytest.mark.parametrize(
    "rule", [{}, {"kind": "sympathy"}, {"kind": "cut", "every": 0}, {"kind": "cut", "often": True}]
)
def test_a_rule_without_sense_is_refused(served: ServedCloud, rule: dict[str, object]) -> None:
    answer = requests.put(f"{served.url}/control/faults", json={"rules": [rule]}, timeout=10)

    assert answer.status_code == 400
    assert served.traffic.faults == ()


def test_a_token_says_whose_it_is_and_what_for(served: ServedCloud) -> None:
    tokens = f"{served.auth_url}/v3/auth/tokens"
    user = {"name": "lessee", "password": "any", "domain": {"name": "Default"}}
    scope = {"project": {"name": "red", "domain": {"name": "Default"}}}
    auth = {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}
    token = requests.post(tokens, json={"auth": auth}, timeout=10).headers["X-Subject-Token"]

    described = requests.get(tokens, headers={**ADMIN, "X-Subject-Token": token}, timeout=10).json()["token"]

    assert (described["user"]["id"], described["project"]["id"]) == ("lessee", "red")
    assert [each["name"] for each in described["roles"]] == ["member", "reader"]
    unknown = requests.get(tokens, headers={**ADMIN, "X-Subject-Token": "made up"}, timeout=10)
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"X-Auth-Token": "made up"}, 401), ({"X-Auth-Token": token_of("lessee", "red")}, 403)],
)
def test_the_services_are_for_administrators(
    served: ServedCloud, headers: dict[str, str], status: int
) -> None:
    answer = requests.get(f"{served.url}/compute/v2.1/os-aggregates", headers=headers, timeout=10)

    assert answer.status_code == status


def test_an_unknown_path_is_not_found(served: ServedCloud) -> None:
    for path in ("/volume/v3", "/compute/v2.1/os-keypairs", "/placement/allocations/1"):
        assert requests.get(f"{served.url}{path}", headers=ADMIN, timeout=10).status_code == 404


def test_a_long_list_comes_in_pages(served: ServedCloud) -> None:
    ids = [f"flavor-{number}" for number in range(1001)]
    for each in ids:
        served.cloud.flavors.create_flavor(
            Flavor(id=each, name=each, vcpus=1, memory_mb=64, disk_gb=0, is_public=True)
        )
    url = f"{served.url}/compute/v2.1/flavors/detail"

    first = requests.get(url, headers=ADMIN, timeout=10).json()
    marker = first["flavors"][-1]["id"]
    second = requests.get(url, headers=ADMIN, params={"marker": marker}, timeout=10).json()

    assert [each["id"] for each in first["flavors"] + second["flavors"]] == ids
    assert "flavors_links" in first
    assert "flavors_links" not in second


def test_a_server_is_booted_only_where_a_reservation_lets_it(
    served: ServedCloud, control: CloudControl
) -> None:
    pool = served.cloud.aggregates.create_aggregate("reservation-1", "blazar_1", {"blazar:owner": "red"})
    served.cloud.aggregates.add_host(1, "host-1")
    served.cloud.aggregates.add_host(1, "host-2")
    served.cloud.aggregates.remove_host(1, "host-2")
    served.cloud.aggregates.add_host(pool.id, "host-2")

    server = control.boot_server("mine", "red", reservation_id="reservation-1")
    with pytest.raises(requests.HTTPError, match="409"):
        control.boot_server("other", "blue", reservation_id="reservation-1")

    assert server["service_host"] == "host-2"
    assert [each["name"] for each in control.state()["servers"]] == ["mine"]


def test_hosts_that_an_operator_added_are_in_the_aggregate(
    served: ServedCloud, control: CloudControl
) -> None:
    control.add_hosts("freepool", ["host-1", "host-2"])

    (freepool,) = served.cloud.aggregates.list_aggregates(["freepool"])
    assert freepool.hosts == {"host-1", "host-2"}
    assert control.figures().calls == {}


def test_a_flavor_that_an_operator_made_is_there(served: ServedCloud, control: CloudControl) -> None:
    flavor = Flavor(id="small", name="small", vcpus=2, memory_mb=1024, disk_gb=10, is_public=True)

    control.make_flavor(flavor)

    assert served.cloud.flavors.find_flavor("small") == flavor


def test_the_program_says_where_it_is_and_ends_when_it_is_told_to(
    free_process: Callable[[list[str]], subprocess.Popen[str]],
) -> None:
    process = free_process([sys.executable, "-m", "rig.cloud", "--hosts", "3", "--latency-ms", "1"])
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    control = CloudControl(url)

    hosts = [each["hypervisor_hostname"] for each in control.state()["hypervisors"]]
    control.close()
    process.send_signal(signal.SIGTERM)

    assert hosts == ["host-1", "host-2", "host-3"]
    assert process.wait(timeout=30) == 0


def test_users_that_are_added_have_their_address_in_keystone(
    served: ServedCloud, control: CloudControl
) -> None:
    control.add_user("anna", "anna@example.org")

    answer = requests.get(f"{served.auth_url}/v3/users/anna", headers=ADMIN, timeout=10)
    assert answer.json()["user"]["email"] == "anna@example.org"
