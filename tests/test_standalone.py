"""The embedded service, in this process, on its fast clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import falcon.testing
import pytest

from blazar import config
from blazar.standalone.example_leases import EXAMPLE_LEASES, create_example_leases
from blazar.standalone.machines import EXAMPLES, apply_machines
from blazar.standalone.service import Embedded, build

Make = Callable[[str], Embedded]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a maker of embedded services from options of ``[physical:host]``."""
    with ExitStack() as stack:

        def make(options: str) -> Embedded:
            path = tmp_path / "blazar.conf"
            path.write_text(
                "[DEFAULT]\nauth_strategy = noauth\n"
                f"[standalone]\nstate_dir = {tmp_path}\nclock_speed = 60\n[physical:host]\n{options}\n"
            )
            embedded = build(config.make_conf([], "test", config_files=[str(path)]))
            stack.enter_context(embedded.lock)
            return embedded

        yield make


@pytest.mark.parametrize(
    ("options", "reservable"),
    [
        ("", False),
        ("enable_polling_monitor = false", True),
        # There is no bus to listen to.
        ("enable_polling_monitor = false\nenable_notification_monitor = true", True),
    ],
)
def test_what_happens_to_simulated_hosts_is_noticed_by_default(
    make: Make, options: str, reservable: bool
) -> None:
    embedded = make(options)
    client = falcon.testing.TestClient(embedded.application, headers={"Host": "127.0.0.1"})
    assert client.simulate_post("/v1/os-hosts", json={"name": "host-1"}).status_code == 201
    embedded.cloud.set_host_state("host-1", is_up=False)

    embedded.reconciler.plan_periodic_tasks()
    embedded.reconciler.run_due()

    (host,) = client.simulate_get("/v1/os-hosts").json["hosts"]
    assert host["reservable"] is reservable


class TestExampleLeases:
    """A calendar that shows something."""

    @pytest.fixture
    def embedded(self, make: Make) -> Embedded:
        made = make("")
        apply_machines(made.context, made.cloud, EXAMPLES, Event())
        return made

    def test_leases_of_several_projects_are_created_once(self, embedded: Embedded) -> None:
        create_example_leases(embedded.context)
        create_example_leases(embedded.context)

        client = falcon.testing.TestClient(embedded.application, headers={"Host": "127.0.0.1"})
        leases = client.simulate_get("/v1/leases").json["leases"]
        assert len(leases) == len({each["id"] for each in leases}) == len(EXAMPLE_LEASES)
        assert {"admin", "teaching"} < {each["project_id"] for each in leases}

    def test_other_hosts_are_named_as_the_reason(self, make: Make) -> None:
        made = make("")
        apply_machines(made.context, made.cloud, EXAMPLES[:1], Event())

        with pytest.raises(ValueError, match="--example-leases: image training"):
            create_example_leases(made.context)


def test_an_end_while_machines_are_registered_leaves_the_rest_to_the_next_start(make: Make) -> None:
    made = make("")
    ended = Event()
    ended.set()
    client = falcon.testing.TestClient(made.application, headers={"Host": "127.0.0.1"})

    apply_machines(made.context, made.cloud, EXAMPLES, ended)
    before = client.simulate_get("/v1/os-hosts").json["hosts"]
    apply_machines(made.context, made.cloud, EXAMPLES, Event())

    assert before == []
    assert len(client.simulate_get("/v1/os-hosts").json["hosts"]) == len(EXAMPLES)
