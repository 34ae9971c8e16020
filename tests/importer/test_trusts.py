"""``blazar-manage trust``: trusts that the existing service left in Keystone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import old_schema
import pytest
import sqlalchemy as sa
from importer.conftest import ContextOn
from installation import OldInstallation, id_of

from blazar.booking.context import Context
from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.cmd.manage import importing
from blazar.domain.errors import CloudUnavailable

Lines = Callable[[], list[str]]


@pytest.fixture
def context(context_on: ContextOn, sqlite: sa.Engine) -> Context:
    return context_on(sqlite)


@pytest.fixture
def trust_ids(cloud: SimulatedCloud) -> list[str]:
    """Return the trusts of two lessees."""
    return [cloud.add_trust(each, "project").id for each in ("ann", "bob")]


@pytest.fixture
def source(installation: OldInstallation, trust_ids: list[str], tmp_path: Path) -> str:
    """Return the URL of a database: two leases share a trust, a host has another, two leases have none."""
    installation.host(1, trust_id=trust_ids[1])
    for name, trust_id in (("a", trust_ids[0]), ("b", trust_ids[0]), ("c", None), ("d", "")):
        installation.lease(name, installation.now, installation.now, status="TERMINATED", trust_id=trust_id)
    old_schema.write(f"sqlite:///{tmp_path}/old.sqlite", installation.rows)
    return f"sqlite:///{tmp_path}/old.sqlite"


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return lambda: capsys.readouterr().out.splitlines()


def delete(context: Context, source: str, trustee: str | None = None) -> int:
    return importing.delete(context, Namespace(source=source, trustee=trustee))


def test_they_are_listed_with_what_they_were_made_for(
    context: Context, source: str, trust_ids: list[str], lines: Lines
) -> None:
    assert importing.print_trusts(context, Namespace(source=source)) == 0

    leases = ", ".join(f"lease {each}" for each in sorted(map(id_of, "ab")))
    assert lines() == [
        *sorted([f"{trust_ids[0]}: {leases}", f"{trust_ids[1]}: host 1"]),
        "2 trusts",
    ]


def test_they_are_deleted_and_again_is_no_error(
    context: Context, source: str, trust_ids: list[str], cloud: SimulatedCloud, lines: Lines
) -> None:
    other = cloud.add_trust("ann", "project")

    assert delete(context, source) == 0
    assert lines()[-1] == "2 trusts were deleted, 0 are still there"
    assert [cloud.trusts.find_trust(each) for each in trust_ids] == [None, None]
    assert cloud.trusts.find_trust(other.id) == other

    assert delete(context, source) == 0
    assert lines() == [
        *sorted(f"{each}: is already gone" for each in trust_ids),
        "0 trusts were deleted, 0 are still there",
    ]


def test_weakness_27_a_trust_for_another_user_is_left_alone_even_if_a_lease_has_its_id(
    context: Context, cloud: SimulatedCloud, installation: OldInstallation, tmp_path: Path, lines: Lines
) -> None:
    foreign = cloud.add_trust("ann", "project", trustee_user_id="heat")
    installation.lease("a", installation.now, installation.now, status="TERMINATED", trust_id=foreign.id)
    url = f"sqlite:///{tmp_path}/other.sqlite"
    old_schema.write(url, installation.rows)

    assert delete(context, url) == 1
    assert lines()[0] == f"{foreign.id}: gives access to user heat, and is not deleted"
    assert cloud.trusts.find_trust(foreign.id) == foreign

    assert delete(context, url, "heat") == 0
    assert cloud.trusts.find_trust(foreign.id) is None


def test_one_that_may_not_be_deleted_is_reported_and_the_others_are_deleted(
    context: Context, source: str, trust_ids: list[str], cloud: SimulatedCloud, lines: Lines
) -> None:
    rule = FaultRule(kind=FaultKind.STATUS, operation="trusts.delete_trust", status=403, times=1)
    cloud.faults.add(rule)

    assert delete(context, source) == 1
    printed = lines()
    assert "failed by script" in printed[0]
    assert printed[1:] == [f"{max(trust_ids)}: deleted", "1 trusts were deleted, 1 are still there"]


def test_where_keystone_does_not_answer_nothing_is_said_to_be_done(
    context: Context, source: str, cloud: SimulatedCloud
) -> None:
    cloud.faults.add(FaultRule(kind=FaultKind.STATUS, operation="trusts.find_trust", status=503))

    with pytest.raises(CloudUnavailable):
        delete(context, source)
