"""Contract of ``Trusts``."""

from __future__ import annotations

import uuid

import pytest
from cloud.contract.lab import CloudLab

from blazar.domain.errors import CloudNotFound

NOTHING = uuid.UUID(int=1).hex


def test_a_trust_says_whose_rights_it_gives_to_whom(lab: CloudLab) -> None:
    trust = lab.make_trust()

    found = lab.cloud.trusts.find_trust(trust.id)

    assert found == trust
    assert found.project_id == lab.project_ids[0]
    assert found.trustee_user_id == lab.cloud.trusts.own_user_id() != found.trustor_user_id


def test_a_trust_that_is_deleted_is_gone(lab: CloudLab) -> None:
    trust, other = lab.make_trust(), lab.make_trust()

    lab.cloud.trusts.delete_trust(trust.id)

    assert lab.cloud.trusts.find_trust(trust.id) is None
    assert lab.cloud.trusts.find_trust(other.id) == other


def test_what_is_gone_cannot_be_deleted(lab: CloudLab) -> None:
    trust = lab.make_trust()
    lab.cloud.trusts.delete_trust(trust.id)

    for each in (trust.id, NOTHING):
        with pytest.raises(CloudNotFound):
            lab.cloud.trusts.delete_trust(each)
    assert lab.cloud.trusts.find_trust(NOTHING) is None
