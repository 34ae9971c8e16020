"""The fault script: faults, the calls at which they strike, and the state after them."""

from __future__ import annotations

import json
from datetime import timedelta
from inspect import signature

import pytest
from clocks import EPOCH, ManualClock

from blazar.cloud.simulated import (
    FaultKind,
    FaultRule,
    FaultScript,
    Moment,
    SimulatedCloud,
    SimulatedCrash,
)
from blazar.cloud.simulated.faults import OPERATIONS
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.ports.compute import Flavor, Lessee

COMPUTE_PORTS = ("hypervisors", "aggregates", "servers", "images", "flavors", "server_groups")


def names(cloud: SimulatedCloud) -> list[str]:
    return [each.name for each in cloud.aggregates.list_aggregates()]


def test_an_error_leaves_the_cloud_as_it_was(simulated: SimulatedCloud, faults: FaultScript) -> None:
    faults.add(
        FaultRule(kind=FaultKind.ERROR, operation="compute.create_aggregate", error=CloudConflict, times=1)
    )

    with pytest.raises(CloudConflict):
        simulated.aggregates.create_aggregate("a", None, {})

    assert names(simulated) == []
    simulated.aggregates.create_aggregate("a", None, {})


def test_a_lost_reply_hides_a_call_that_had_its_effect(
    simulated: SimulatedCloud, faults: FaultScript
) -> None:
    faults.add(FaultRule(kind=FaultKind.LOSE_REPLY, operation="compute.create_aggregate"))

    with pytest.raises(CloudUnavailable):
        simulated.aggregates.create_aggregate("a", None, {})

    assert names(simulated) == ["a"]


def test_a_lost_reply_hides_a_refusal_too(simulated: SimulatedCloud, faults: FaultScript) -> None:
    faults.add(FaultRule(kind=FaultKind.LOSE_REPLY, operation="compute.delete_aggregate"))

    with pytest.raises(CloudUnavailable):
        simulated.aggregates.delete_aggregate(17)


@pytest.mark.parametrize(("when", "left"), [(Moment.BEFORE, []), (Moment.AFTER, ["a"])])
def test_a_crash_strikes_on_either_side_of_the_effect(
    simulated: SimulatedCloud, faults: FaultScript, when: Moment, left: list[str]
) -> None:
    faults.add(FaultRule(kind=FaultKind.CRASH, operation="compute.create_aggregate", when=when))

    with pytest.raises(SimulatedCrash):
        simulated.aggregates.create_aggregate("a", None, {})

    assert names(simulated) == left


def test_a_crash_is_no_exception_that_a_worker_would_catch() -> None:
    assert not issubclass(SimulatedCrash, Exception)


def test_a_late_answer_takes_its_time_and_is_given(
    simulated: SimulatedCloud, faults: FaultScript, clock: ManualClock
) -> None:
    faults.add(FaultRule(kind=FaultKind.LATE, delay=timedelta(seconds=30), nth=1))

    simulated.aggregates.create_aggregate("a", None, {})
    late = clock.now()
    simulated.aggregates.create_aggregate("b", None, {})

    assert (late, clock.now()) == (EPOCH + timedelta(seconds=30),) * 2
    assert names(simulated) == ["a", "b"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, CloudRefused),
        (401, CloudUnavailable),
        (403, CloudRefused),
        (404, CloudNotFound),
        (409, CloudConflict),
        (429, CloudUnavailable),
        (500, CloudUnavailable),
        (503, CloudUnavailable),
    ],
)
def test_a_status_becomes_the_error_it_stands_for(
    simulated: SimulatedCloud, faults: FaultScript, status: int, error: type[CloudError]
) -> None:
    faults.add(FaultRule(kind=FaultKind.STATUS, status=status))

    with pytest.raises(error) as caught:
        simulated.hypervisors.list_hypervisors()

    assert type(caught.value) is error


def test_the_nth_call_fails_and_no_other(simulated: SimulatedCloud, faults: FaultScript) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, nth=3))

    simulated.aggregates.list_aggregates()
    simulated.placement.find_provider("node-1")
    with pytest.raises(CloudUnavailable):
        simulated.networks.find_network("n")
    simulated.networks.find_network("n")


def test_a_rule_counts_the_calls_of_its_operation_only(
    simulated: SimulatedCloud, faults: FaultScript
) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, operation="placement.*", nth=2))

    simulated.placement.find_provider("node-1")
    simulated.aggregates.list_aggregates()
    with pytest.raises(CloudUnavailable):
        simulated.placement.list_resource_classes()


def test_every_kth_call_fails(simulated: SimulatedCloud, faults: FaultScript) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, every=3, times=2))
    failed = []

    for number in range(1, 13):
        try:
            simulated.aggregates.list_aggregates()
        except CloudUnavailable:
            failed.append(number)

    assert failed == [3, 6]


def test_a_rule_added_later_counts_from_then(simulated: SimulatedCloud, faults: FaultScript) -> None:
    simulated.aggregates.list_aggregates()

    faults.add(FaultRule(kind=FaultKind.ERROR, nth=1))

    with pytest.raises(CloudUnavailable):
        simulated.aggregates.list_aggregates()


def test_the_first_rule_strikes_and_the_others_let_the_call_pass(
    simulated: SimulatedCloud, faults: FaultScript
) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, nth=1, error=CloudConflict))
    faults.add(FaultRule(kind=FaultKind.ERROR, nth=1, error=CloudNotFound))
    faults.add(FaultRule(kind=FaultKind.ERROR, nth=2, error=CloudRefused))

    with pytest.raises(CloudConflict):
        simulated.aggregates.list_aggregates()
    with pytest.raises(CloudRefused):
        simulated.aggregates.list_aggregates()
    simulated.aggregates.list_aggregates()


def test_the_script_records_what_fired(simulated: SimulatedCloud, faults: FaultScript) -> None:
    rule = FaultRule(kind=FaultKind.ERROR, operation="compute.list_aggregates")
    faults.add(rule)

    simulated.hypervisors.list_hypervisors()
    with pytest.raises(CloudUnavailable):
        simulated.aggregates.list_aggregates()
    faults.clear()
    simulated.aggregates.list_aggregates()

    (firing,) = faults.fired
    assert (firing.rule, firing.operation, firing.call) == (rule, "compute.list_aggregates", 2)


def test_an_aggregate_may_be_left_behind_without_its_metadata(
    simulated: SimulatedCloud, faults: FaultScript
) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, operation="compute.set_aggregate_metadata"))

    with pytest.raises(CloudUnavailable):
        simulated.aggregates.create_aggregate("a", "zone", {"blazar:owner": "p"})

    (left,) = simulated.aggregates.list_aggregates()
    assert (left.name, dict(left.metadata)) == ("a", {})


def test_a_flavor_may_be_left_behind_without_its_extra_specs(
    simulated: SimulatedCloud, faults: FaultScript
) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR, operation="compute.set_flavor_extra_specs"))
    flavor = Flavor(id="f", name="f", vcpus=1, memory_mb=1, disk_gb=0, extra_specs={"key": "value"})

    with pytest.raises(CloudUnavailable):
        simulated.flavors.create_flavor(flavor)

    left = simulated.flavors.find_flavor("f")
    assert left is not None
    assert dict(left.extra_specs) == {}


def test_what_operators_do_never_fails_by_script(simulated: SimulatedCloud, faults: FaultScript) -> None:
    faults.add(FaultRule(kind=FaultKind.ERROR))

    simulated.add_aggregate("freepool")
    simulated.boot_server("server", "project", service_host="node-1")

    assert faults.fired == ()
    assert simulated.calls == {}


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_method_of_the_ports_is_an_operation_of_its_name(
    simulated: SimulatedCloud, faults: FaultScript, operation: str
) -> None:
    service, _, name = operation.partition(".")
    ports = {
        "compute": [getattr(simulated, each) for each in COMPUTE_PORTS],
        "lessee": [simulated.compute_for(Lessee(project_id="project"))],
        "project_storage": [simulated.storage_in("project")],
    }
    (method,) = (
        getattr(port, name)
        for port in ports.get(service) or [getattr(simulated, service)]
        if hasattr(port, name)
    )
    required = [each for each in signature(method).parameters.values() if each.default is each.empty]
    faults.add(FaultRule(kind=FaultKind.ERROR, operation=operation, error=CloudRefused))

    with pytest.raises(CloudRefused):
        method(*(None for _ in required))

    assert simulated.calls == {operation: 1}


def test_a_script_is_read_from_json() -> None:
    text = json.dumps(
        {
            "rules": [
                {"kind": "error", "operation": "compute.add_host", "nth": 3, "error": "cloud-conflict"},
                {"kind": "status", "operation": "placement.*", "every": 5, "status": 404},
                {"kind": "lose_reply", "times": 2},
                {"kind": "late", "delay_seconds": 2.5, "when": "before"},
                {"kind": "crash"},
            ]
        }
    )

    script = FaultScript.from_json(text)

    assert script.rules == (
        FaultRule(kind=FaultKind.ERROR, operation="compute.add_host", nth=3, error=CloudConflict),
        FaultRule(kind=FaultKind.STATUS, operation="placement.*", every=5, status=404),
        FaultRule(kind=FaultKind.LOSE_REPLY, times=2),
        FaultRule(kind=FaultKind.LATE, delay=timedelta(seconds=2.5), when=Moment.BEFORE),
        FaultRule(kind=FaultKind.CRASH),
    )


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("late", r"rules\[0\]: must be an object"),
        ({}, r"rules\[0\]\.kind: is missing"),
        ({"kind": "explode"}, r"rules\[0\]\.kind: 'explode'"),
        ({"kind": "error", "operation": "compute.add_hots"}, r"rules\[0\]\.operation: 'compute\.add_hots'"),
        ({"kind": "error", "nth": 0}, r"rules\[0\]\.nth: must be at least 1"),
        ({"kind": "error", "nth": True}, r"rules\[0\]\.nth: True is of the wrong type"),
        ({"kind": "error", "every": "2"}, r"rules\[0\]\.every: '2' is of the wrong type"),
        ({"kind": "error", "nth": 1, "every": 2}, r"rules\[0\]\.every: cannot be combined with nth"),
        ({"kind": "error", "times": -1}, r"rules\[0\]\.times: must be at least 1"),
        ({"kind": "error", "error": "teapot"}, r"rules\[0\]\.error: 'teapot'"),
        ({"kind": "status", "status": 200}, r"rules\[0\]\.status: must lie between 400 and 599"),
        ({"kind": "late", "delay_seconds": -1}, r"rules\[0\]\.delay_seconds: must lie between 0"),
        ({"kind": "late", "delay_seconds": 1e300}, r"rules\[0\]\.delay_seconds: must lie between 0"),
        ({"kind": "crash", "when": "during"}, r"rules\[0\]\.when: 'during'"),
        ({"kind": "error", "colour": "red"}, r"rules\[0\]\.colour: unknown key"),
    ],
)
def test_a_bad_rule_is_refused_by_the_name_of_its_field(rule: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        FaultScript.from_json(json.dumps({"rules": [rule]}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rules": {}}', '{"rules": [], "more": 1}'])
def test_text_that_is_no_script_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rules|more|Expecting value"):
        FaultScript.from_json(text)


def test_a_negative_delay_is_refused() -> None:
    with pytest.raises(ValueError, match="delay"):
        FaultRule(kind=FaultKind.LATE, delay=timedelta(seconds=-1))
