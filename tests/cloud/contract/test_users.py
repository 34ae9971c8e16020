"""Contract of ``Users``."""

from __future__ import annotations

import pytest
from cloud.contract.lab import CloudLab


@pytest.mark.parametrize("email", ["someone@example.org", None])
def test_a_user_is_found_with_its_address(lab: CloudLab, email: str | None) -> None:
    user_id = lab.add_user("mailed", email)

    found = lab.cloud.users.find_user(user_id)

    assert found is not None
    assert (found.id, found.email, found.is_enabled) == (user_id, email, True)


def test_other_users_are_not_found(lab: CloudLab) -> None:
    assert lab.cloud.users.find_user("0" * 32) is None
