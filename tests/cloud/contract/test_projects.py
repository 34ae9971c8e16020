"""Contract of ``Projects``."""

from __future__ import annotations

import pytest
from cloud.contract.lab import CloudLab


def test_a_project_is_found_by_its_name(lab: CloudLab) -> None:
    name = lab.name("two")

    (found,) = lab.cloud.projects.list_projects(name)

    assert (found.id, found.name) == (lab.project_ids[1], name)
    assert found.domain_id


@pytest.mark.parametrize("suffix", ["on", "none", "one two", "one&name=two"])
def test_other_names_find_no_project(lab: CloudLab, suffix: str) -> None:
    assert lab.cloud.projects.list_projects(lab.name(suffix)) == ()
