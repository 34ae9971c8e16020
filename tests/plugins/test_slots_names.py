"""Names of the objects of slot reservations, and the ids read from them."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazar.domain.lease import is_canonical_id
from blazar.plugins.slots.names import (
    flavor_name,
    group_name,
    id_of_class,
    id_of_name,
    provider_name,
    reservation_class,
)

ID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"


def test_names_are_those_that_other_software_relies_on() -> None:
    assert reservation_class(ID) == "CUSTOM_RESERVATION_0A1B2C3D_4E5F_4A6B_8C7D_9E0F1A2B3C4D"
    assert flavor_name(ID) == f"reservation:{ID}"
    assert group_name(ID) == f"reservation:{ID}"
    assert provider_name("node-1.example.org") == "blazar_node-1.example.org"


@given(st.uuids().map(str))
def test_a_name_leads_back_to_its_reservation(reservation_id: str) -> None:
    assert id_of_class(reservation_class(reservation_id)) == reservation_id
    assert id_of_name(flavor_name(reservation_id)) == reservation_id
    assert id_of_name(group_name(reservation_id)) == reservation_id


@pytest.mark.parametrize(
    "name",
    [
        "",
        "VCPU",
        "CUSTOM_RESERVATION_",
        "CUSTOM_RESERVATION_GPU",
        reservation_class(ID).lower(),
        reservation_class(ID).replace("_", "-"),
        reservation_class(ID).removeprefix("CUSTOM_RESERVATION_"),
        f"{reservation_class(ID)}_1",
        f"CUSTOM_RESERVATION_{uuid.UUID(ID).hex.upper()}",
        reservation_class(f"{{{ID}}}"),
    ],
)
def test_a_class_of_another_name_is_no_reservations(name: str) -> None:
    assert id_of_class(name) is None


@pytest.mark.parametrize(
    "name", ["", "reservation:", "reservation:1", ID, f"Reservation:{ID}", f"reservation:{ID.upper()}"]
)
def test_a_flavor_or_group_of_another_name_is_no_reservations(name: str) -> None:
    assert id_of_name(name) is None


@pytest.mark.parametrize(
    "text", ["", "1", ID.upper(), uuid.UUID(ID).hex, f"{{{ID}}}", f"urn:uuid:{ID}", f"{ID} "]
)
def test_an_id_is_written_in_one_way(text: str) -> None:
    assert is_canonical_id(ID)
    assert not is_canonical_id(text)
