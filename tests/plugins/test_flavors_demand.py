"""What servers of a flavor need, and which flavors no reservation can guarantee."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from blazar.domain.capacity import Demand
from blazar.domain.errors import FlavorNotReservable, InvalidParameter, rebuild
from blazar.plugins.flavors.demand import check_reservable, demand_of
from blazar.ports.compute import Flavor


def flavor(specs: Mapping[str, str] | None = None, *, disk_gb: int = 10, ephemeral_gb: int = 0) -> Flavor:
    return Flavor(
        id="f",
        name="f",
        vcpus=2,
        memory_mb=1024,
        disk_gb=disk_gb,
        ephemeral_gb=ephemeral_gb,
        extra_specs=specs or {},
    )


@pytest.mark.parametrize(
    ("given", "amounts"),
    [
        (flavor(), {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10}),
        (flavor(disk_gb=0), {"VCPU": 2, "MEMORY_MB": 1024}),
        (flavor(ephemeral_gb=7), {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 17}),
        (flavor({"hw:cpu_policy": "dedicated"}), {"PCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10}),
        (flavor({"hw:cpu_policy": "shared"}), {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10}),
        (flavor({"resources:VGPU": "1"}), {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10, "VGPU": 1}),
        (
            flavor({"resources:VCPU": "0", "resources:CUSTOM_BAREMETAL": "1", "resources:DISK_GB": "0"}),
            {"MEMORY_MB": 1024, "CUSTOM_BAREMETAL": 1},
        ),
        (flavor({"resources:MEMORY_MB": "2048"}), {"VCPU": 2, "MEMORY_MB": 2048, "DISK_GB": 10}),
    ],
)
def test_a_slot_needs_what_a_server_of_the_flavor_takes(given: Flavor, amounts: Mapping[str, int]) -> None:
    check_reservable(given)

    assert demand_of(given) == Demand.of(amounts)


def test_traits_are_required_or_forbidden() -> None:
    given = flavor(
        {
            "trait:HW_CPU_X86_AVX2": "required",
            "trait:CUSTOM_OLD": "forbidden",
            "trait:CUSTOM_A": "required",
        }
    )

    demand = demand_of(given)

    assert demand.required_traits == {"HW_CPU_X86_AVX2", "CUSTOM_A"}
    assert demand.forbidden_traits == {"CUSTOM_OLD"}


@pytest.mark.parametrize(
    "specs",
    [
        *[
            {"resources:VGPU": value}
            for value in ("", "x", "-1", "1.5", "0x10", "²", "2147483648", "9" * 5000)
        ],
        {"resources:": "1"},
        {"resources:vgpu": "1"},
        *[{"trait:CUSTOM_A": value} for value in ("", "Required", "preferred", "true")],
        {"trait:": "required"},
    ],
)
def test_a_resource_or_a_trait_that_makes_no_sense_is_named(specs: dict[str, str]) -> None:
    (key,) = specs

    with pytest.raises(InvalidParameter, match=f"flavor_id: .*{key}") as caught:
        check_reservable(flavor(specs))

    assert len(caught.value.message) < 200


def test_a_flavor_whose_servers_need_nothing_cannot_be_reserved() -> None:
    given = flavor({"resources:VCPU": "0", "resources:MEMORY_MB": "0", "resources:DISK_GB": "0"})

    with pytest.raises(InvalidParameter, match="flavor_id: servers of flavor f need nothing"):
        check_reservable(given)


OBSTACLES = [
    "resources1:VGPU=1",
    "resources_GPU:VGPU=1",
    "trait1:CUSTOM_A=required",
    "trait_GPU:CUSTOM_A=required",
    "group_policy=isolate",
    "same_subtree=_GPU,_NIC",
    "hw:cpu_policy=mixed",
    "hw:cpu_policy=fancy",
    "hw:cpu_dedicated_mask=0-1",
    "hw:cpu_realtime=true",
    "hw:cpu_thread_policy=isolate",
    "hw:cpu_thread_policy=require",
    "hw:emulator_threads_policy=share",
    "hw:numa_nodes=2",
    "hw:numa_cpus.0=0,1",
    "hw:numa_mem.1=512",
    "hw:mem_page_size=large",
    "hw:mem_encryption=true",
    "hw:maxphysaddr_mode=emulate",
    "hw:pci_numa_affinity_policy=required",
    "hw:pmem=16GB",
    "hw:tpm_model=tpm-crb",
    "hw:tpm_version=2.0",
    "hw:not_invented_yet=1",
    "pci_passthrough:alias=gpu:1",
    "accel:device_profile=fpga",
    "capabilities:cpu_info:arch=x86_64",
    "aggregate_instance_extra_specs:ssd=true",
    "aggregate_instance_extra_specs:reservation=6c3f",
    "blazar:preemptible=true",
    "os:secure_boot=required",
    "ssd=true",
]
HARMLESS = [
    "hw:cpu_sockets=1",
    "hw:cpu_cores=2",
    "hw:cpu_threads=1",
    "hw:cpu_max_sockets=2",
    "hw:max_cpu_cores=2",
    "hw:cpu_policy=shared",
    "hw:cpu_thread_policy=prefer",
    "hw:boot_menu=true",
    "hw:hide_hypervisor_id=true",
    "hide_hypervisor_id=true",
    "hw:vif_multiqueue_enabled=true",
    "hw:watchdog_action=reset",
    "hw:serial_port_count=2",
    "hw:pmu=false",
    "os:secure_boot=disabled",
    "hw_rng:allowed=true",
    "hw_video:ram_max_mb=64",
    "quota:cpu_shares=10",
    "acme:cost-centre=7",
]


@pytest.mark.parametrize("spec", OBSTACLES)
def test_a_flavor_with_an_extra_spec_that_cannot_be_guaranteed_is_refused(spec: str) -> None:
    key, _, value = spec.partition("=")

    with pytest.raises(FlavorNotReservable) as caught:
        check_reservable(flavor({key: value}))

    assert caught.value.fields["extra_specs"] == [key]


@pytest.mark.parametrize("spec", HARMLESS)
def test_extra_specs_that_do_not_say_where_a_server_can_run_are_harmless(spec: str) -> None:
    key, _, value = spec.partition("=")

    check_reservable(flavor({key: value}))

    assert demand_of(flavor({key: value})) == demand_of(flavor())


def test_all_that_cannot_be_guaranteed_is_listed_and_survives_the_way_to_the_client() -> None:
    specs = {"hw:numa_nodes": "2", "quota:a": "1", "accel:device_profile": "f", "resources:VGPU": "senseless"}

    with pytest.raises(FlavorNotReservable) as caught:
        check_reservable(flavor(specs))

    error = caught.value
    assert error.message.endswith("guarantee: accel:device_profile, hw:numa_nodes")
    again = rebuild(error.code, error.message, error.fields)
    assert isinstance(again, FlavorNotReservable)
    assert again.fields == {"flavor_id": "f", "extra_specs": ["accel:device_profile", "hw:numa_nodes"]}
