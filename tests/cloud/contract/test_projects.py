"""Contract of ``Projects``."""

from __future__ import annotations

import pytest
from cloud.contract.lab import CloudLab

from blazar.ports.identity import Projects


@pytest.fixture
def projects(lab: CloudLab) -> Projects:
    """Return the projects of a cloud that has those of the lab."""
    assert len(lab.project_ids) == 2
    return lab.cloud.projects


def test_a_project_is_found_by_its_name(projects: Projects, lab: CloudLab) -> None:
    name = lab.name("two")

    (found,) = projects.list_projects(name)

    assert (found.id, found.name) == (lab.project_ids[1], name)
    assert found.domain_id


@pytest.mark.parametrize("suffix", ["on", "none", "one two", "one&name=two"])
def test_other_names_find_no_project(projects: Projects, lab: CloudLab, suffix: str) -> None:
    assert projects.list_projects(lab.name(suffix)) == ()
