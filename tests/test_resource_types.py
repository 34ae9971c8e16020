"""Resource types are found by their entry points, and their parts by the names of modules."""

from __future__ import annotations

import pytest

from blazar.booking.context import OwnCollection
from blazar.resource_types import list_folders, load_parts
from blazar.type_options import TypeOptions


def test_every_resource_type_is_found_by_the_entry_point_of_its_plugin() -> None:
    folders = {
        f"blazar.plugins.{each}"
        for each in ("flavors", "floatingips", "hosts", "instances", "networks", "storage_nodes", "volumes")
    }

    assert set(list_folders()) == folders


def test_a_resource_type_needs_no_other_part_than_its_plugin() -> None:
    collections = {each.name for each in load_parts("collection", OwnCollection)}

    assert collections == {"host", "floatingip", "network", "storage-pool"}
    assert load_parts("no_such_part", object) == ()


def test_a_part_of_another_class_is_refused_with_its_name() -> None:
    with pytest.raises(TypeError, match="OPTIONS must be of the class OwnCollection"):
        load_parts("options", OwnCollection)

    assert load_parts("options", TypeOptions)
