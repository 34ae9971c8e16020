"""The dashboard's calendar of hosts, opened to members by the policy rules from the guide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from app.http_env import LESSEE, READER, STRANGER, HttpEnv, Who, good, refusal

GUIDE = Path(__file__).parents[2] / "doc" / "reference" / "policies.md"
LISTS = ("/os-hosts", "/os-hosts/allocations")


def rules_of_the_guide() -> dict[str, str]:
    (block,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    rules: dict[str, str] = yaml.safe_load(block)
    return rules


@pytest.mark.usefixtures("hosts")
def test_by_default_the_calendar_is_for_operators(env: HttpEnv) -> None:
    for path in LISTS:
        refusal(env.get(path, who=LESSEE), 403)


@pytest.mark.parametrize("who", [LESSEE, READER])
def test_the_rules_of_the_guide_show_members_what_it_says(env: HttpEnv, hosts: list[str], who: Who) -> None:
    env.set_policy(rules_of_the_guide())
    good(env.patch("/os-hosts/properties/rack", {"private": True}))
    env.create("now", 5, who=STRANGER)
    env.pass_time(6)
    lease = env.create(10, 60, who=STRANGER, min=4, max=4)

    listed = good(env.get(LISTS[0], who=who))["hosts"]
    allocations = good(env.get(LISTS[1], who=who))["allocations"]

    shown = {"hypervisor_hostname", "vcpus", "memory_mb", "local_gb", "cpu_info", "reservable"}
    assert {each["hypervisor_hostname"] for each in listed} == {"h1", "h2", "h3", "h4"}
    assert all(shown | {"slots"} <= each.keys() and "rack" not in each for each in listed)
    reservation = {
        "id": lease["reservations"][0]["id"],
        "lease_id": lease["id"],
        "start_date": env.shown(10),
        "end_date": env.shown(60),
    }
    assert {each["resource_id"] for each in allocations} == set(hosts)
    assert all(each["reservations"] == [reservation] for each in allocations)


def test_the_rules_of_the_guide_open_nothing_else(env: HttpEnv, hosts: list[str]) -> None:
    env.set_policy(rules_of_the_guide())
    lease = env.create(10, 60, who=STRANGER)
    path = f"/os-hosts/{hosts[0]}"

    refusal(env.get(f"/leases/{lease['id']}", who=LESSEE), 403)
    refusal(env.put(path, {"gpu": "a100"}, who=LESSEE), 403)
    refusal(env.delete(path, who=LESSEE), 403)
    refusal(env.post("/os-hosts", {"name": "h9"}, who=LESSEE), 403)
    refusal(env.get("/os-hosts/properties", who=LESSEE), 403)
    assert good(env.get("/leases", who=LESSEE))["leases"] == []
