"""Behaviour of Keystone that the contract suite does not cover."""

from __future__ import annotations

import pytest
from cloud.openstack.stub import TOKENS, Reply, StubCloud

from blazar.cloud.openstack.driver import OpenStackCloud
from blazar.domain.errors import CloudRefused, CloudUnavailable


def test_a_trust_that_may_not_be_deleted_is_a_refusal_with_keystones_reason(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    stub.endpoints["identity"] = {("internal", "one"): "/identity"}
    body = {"error": {"code": 403, "message": "You are not authorized: identity:delete_trust.", "title": "x"}}
    stub.lay_out("DELETE", "/identity/v3/OS-TRUST/trusts/t1", Reply(status=403, body=body))

    with pytest.raises(CloudRefused, match="403 You are not authorized: identity:delete_trust"):
        cloud.trusts.delete_trust("t1")


def test_the_user_whose_rights_are_used_is_the_one_of_the_token(
    stub: StubCloud, cloud: OpenStackCloud
) -> None:
    assert cloud.trusts.own_user_id() == "user-id"


def test_without_a_token_nobody_knows_the_user(stub: StubCloud, cloud: OpenStackCloud) -> None:
    stub.lay_out("POST", TOKENS, Reply(status=503))

    with pytest.raises(CloudUnavailable, match="no token is available"):
        cloud.trusts.own_user_id()
