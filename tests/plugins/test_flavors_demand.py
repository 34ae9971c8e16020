"""The demand of a flavor's servers, and the extra specs that a reservation guarantees."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from blazar.domain.capacity import Demand, Group
from blazar.domain.errors import InvalidParameter, rebuild
from blazar.plugins.flavors.demand import check_reservable, demand_of
from blazar.plugins.flavors.errors import FlavorNotReservable
from blazar.plugins.flavors.extra_specs import list_unguaranteed
from blazar.plugins.flavors.pci import list_devices, parse_aliases
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


FORBIDDEN = ["aggregate_instance_extra_specs:reservation=6c3f", "blazar:preemptible=true"]
UNGUARANTEED = [
    "same_subtree=_GPU,_NIC",
    "group_policy=random",
    "trait1:CUSTOM_A=required",
    "hw:cpu_policy=fancy",
    "hw:cpu_realtime=true",
    "hw:cpu_thread_policy=require",
    "hw:emulator_threads_policy=share",
    "hw:numa_nodes=2",
    "hw:numa_cpus.0=0,1",
    "hw:numa_mem.1=512",
    "hw:mem_page_size=large",
    "hw:maxphysaddr_mode=emulate",
    "hw:pci_numa_affinity_policy=required",
    "hw:pci_numa_affinity_policy=socket",
    "hw:tpm_version=3.0",
    "hw:not_invented_yet=1",
    "pci_passthrough:alias=gpu:1",
    "accel:device_profile=fpga",
    "capabilities:cpu_info:arch=x86_64",
    "aggregate_instance_extra_specs:ssd=true",
    "os:secure_boot=maybe",
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
    "hw:mem_encryption=false",
    "hw:tpm_model=tpm-crb",
    "hw:pci_numa_affinity_policy=preferred",
    "group_policy=none",
    "os:secure_boot=disabled",
    "os:secure_boot=optional",
    "hw_rng:allowed=true",
    "hw_video:ram_max_mb=64",
    "quota:cpu_shares=10",
    "acme:cost-centre=7",
]


def one(spec: str) -> dict[str, str]:
    key, _, value = spec.partition("=")
    return {key: value}


@pytest.mark.parametrize("spec", FORBIDDEN)
def test_a_flavor_with_an_extra_spec_of_this_service_is_refused(spec: str) -> None:
    with pytest.raises(FlavorNotReservable) as caught:
        check_reservable(flavor(one(spec)))

    assert caught.value.fields["extra_specs"] == [*one(spec)]


@pytest.mark.parametrize("spec", UNGUARANTEED)
def test_extra_specs_that_placement_cannot_count_are_named_and_need_no_amount(spec: str) -> None:
    given = flavor(one(spec))

    check_reservable(given)

    assert list_unguaranteed(given.extra_specs) == [*one(spec)]
    assert demand_of(given).amounts == demand_of(flavor()).amounts


@pytest.mark.parametrize("spec", HARMLESS)
def test_extra_specs_that_do_not_say_where_a_server_can_run_are_harmless(spec: str) -> None:
    given = flavor(one(spec))

    check_reservable(given)

    assert list_unguaranteed(given.extra_specs) == []
    assert demand_of(given) == demand_of(flavor())


def test_all_that_is_forbidden_is_listed_and_survives_the_way_to_the_client() -> None:
    specs = {"blazar:b": "2", "quota:a": "1", "blazar:a": "f", "resources:VGPU": "senseless"}

    with pytest.raises(FlavorNotReservable) as caught:
        check_reservable(flavor(specs))

    error = caught.value
    assert error.message.endswith("only this service may set: blazar:a, blazar:b")
    again = rebuild(error.code, error.message, error.fields)
    assert isinstance(again, FlavorNotReservable)
    assert again.fields == {"flavor_id": "f", "extra_specs": ["blazar:a", "blazar:b"]}


BASE = {"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 10}
PINNED = {"MEMORY_MB": 1024, "DISK_GB": 10, "PCPU": 2}


@pytest.mark.parametrize(
    ("specs", "demand"),
    [
        ({"hw:mem_encryption": "True"}, Demand.of({**BASE, "MEM_ENCRYPTION_CONTEXT": 1})),
        (
            {"hw:pmem": "6GB,6GB,16-GB"},
            Demand.of({**BASE, "CUSTOM_PMEM_NAMESPACE_6GB": 2, "CUSTOM_PMEM_NAMESPACE_16_GB": 1}),
        ),
        ({"os:secure_boot": "required"}, Demand.of(BASE, ["COMPUTE_SECURITY_UEFI_SECURE_BOOT"])),
        ({"hw:tpm_version": "1.2"}, Demand.of(BASE, ["COMPUTE_SECURITY_TPM_1_2"])),
        ({"hw:tpm_version": "2.0", "hw:tpm_model": "tpm-crb"}, Demand.of(BASE, ["COMPUTE_SECURITY_TPM_2_0"])),
        ({"hw:pci_numa_affinity_policy": "socket"}, Demand.of(BASE, ["COMPUTE_SOCKET_PCI_NUMA_AFFINITY"])),
        ({"hw:cpu_thread_policy": "isolate"}, Demand.of(BASE, (), ["HW_CPU_HYPERTHREADING"])),
        ({"hw:cpu_thread_policy": "require"}, Demand.of(BASE, ["HW_CPU_HYPERTHREADING"])),
        ({"hw:cpu_policy": "dedicated"}, Demand.of(PINNED)),
        (
            {"hw:cpu_policy": "dedicated", "hw:emulator_threads_policy": "isolate"},
            Demand.of({**PINNED, "PCPU": 3}),
        ),
        (
            {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0"},
            Demand.of({**PINNED, "PCPU": 1, "VCPU": 1}),
        ),
        (
            {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "^1"},
            Demand.of({**PINNED, "PCPU": 1, "VCPU": 1}),
        ),
        (
            {"hw:cpu_policy": "mixed", "hw:cpu_realtime_mask": "0-1, ^0"},
            Demand.of({**PINNED, "PCPU": 1, "VCPU": 1}),
        ),
        ({"resources:PCPU": "3"}, Demand.of({**PINNED, "PCPU": 3})),
        (
            {"resources1:VGPU": "2", "trait1:CUSTOM_A": "required", "trait1:CUSTOM_B": "forbidden"},
            Demand.of(
                BASE,
                groups=[
                    Group(
                        amounts=(("VGPU", 2),),
                        required_traits=frozenset({"CUSTOM_A"}),
                        forbidden_traits=frozenset({"CUSTOM_B"}),
                    )
                ],
            ),
        ),
        (
            {"resources_A:VGPU": "1", "resources_B:VGPU": "1", "group_policy": "isolate"},
            Demand.of(BASE, groups=[Group(amounts=(("VGPU", 1),))] * 2, is_isolated=True),
        ),
        (
            {"resources1:VCPU": "2", "resources1:MEMORY_MB": "512", "resources2:VGPU": "0"},
            Demand.of({"DISK_GB": 10}, groups=[Group(amounts=(("MEMORY_MB", 512), ("VCPU", 2)))]),
        ),
    ],
)
def test_what_nova_asks_placement_for_is_counted(specs: Mapping[str, str], demand: Demand) -> None:
    assert demand_of(flavor(specs)) == demand


@pytest.mark.parametrize("mask", ["", "x", "0-9", "^0-1", "5", "1-0"])
def test_a_mask_of_pinned_processors_that_makes_no_sense_is_named(mask: str) -> None:
    with pytest.raises(InvalidParameter, match=r"flavor_id: .*hw:cpu_dedicated_mask"):
        check_reservable(flavor({"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": mask}))


@pytest.mark.parametrize("key", ["resources1:vgpu", "resources1:", "resources_A:VGPU"])
def test_a_group_that_makes_no_sense_is_named(key: str) -> None:
    with pytest.raises(InvalidParameter, match=f"flavor_id: .*{key}"):
        check_reservable(flavor({key: "many"}))


class TestDevices:
    ALIASES = parse_aliases(
        [
            '{"name": "a", "vendor_id": "10de", "product_id": "20B0", "device_type": "type-PCI"}',
            '{"name": "b", "resource_class": "gpu-a100", "traits": "hw_gpu_api_vulkan, nv-link"}',
            '{"name": "c", "resource_class": "VGPU"}',
            '{"name": "twice", "resource_class": "VGPU"}',
            '{"name": "twice", "resource_class": "CUSTOM_X"}',
        ]
    )

    @pytest.mark.parametrize(
        ("text", "groups"),
        [
            ("a:1", [Group(amounts=(("CUSTOM_PCI_10DE_20B0", 1),))]),
            ("c:2", [Group(amounts=(("VGPU", 1),))] * 2),
            (
                "c:1, b:1",
                [
                    Group(amounts=(("VGPU", 1),)),
                    Group(
                        amounts=(("CUSTOM_GPU_A100", 1),),
                        required_traits=frozenset({"HW_GPU_API_VULKAN", "CUSTOM_NV_LINK"}),
                    ),
                ],
            ),
        ],
    )
    def test_each_device_is_a_group(self, text: str, groups: list[Group]) -> None:
        assert list_devices(text, self.ALIASES) == tuple(groups)

    @pytest.mark.parametrize("text", ["", "d:1", "a:1,d:1", "a", "a:x", "a:100", "twice:1"])
    def test_what_placement_cannot_count_is_not_counted(self, text: str) -> None:
        assert list_devices(text, self.ALIASES) is None

    @pytest.mark.parametrize(
        "line", ["", "[]", "{}", '{"name": "a"}', '{"name": "a", "vendor_id": "1"}', "x=y"]
    )
    def test_an_alias_that_makes_no_sense_is_quoted(self, line: str) -> None:
        with pytest.raises(ValueError, match="must be a JSON object"):
            parse_aliases([line])
