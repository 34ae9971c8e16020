"""Signatures of webhooks."""

from __future__ import annotations

from datetime import UTC, datetime

from blazar.domain.webhook_signatures import secret_of, signed_headers

AT = datetime.fromtimestamp(1614265330, UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = "msg_p5jXN8AQM9LWM0D4loKWxJek"
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
"""The example of the specification's implementations."""


def test_the_example_of_the_specification_has_its_signature() -> None:
    assert signed_headers(MESSAGE, AT, BODY, [SECRET]) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


def test_each_key_adds_a_signature() -> None:
    other = secret_of(b"k" * 32)

    both = signed_headers(MESSAGE, AT, BODY, [other, SECRET])["webhook-signature"].split(" ")

    assert (len(both), both[1]) == (2, SIGNATURE)
    assert both[0] == signed_headers(MESSAGE, AT, BODY, [other])["webhook-signature"]


def test_every_part_is_signed() -> None:
    variants = [
        (MESSAGE, AT, BODY),
        ("other", AT, BODY),
        (MESSAGE, datetime.fromtimestamp(1614265331, UTC), BODY),
        (MESSAGE, AT, b"{}"),
    ]

    signatures = {signed_headers(*each, [SECRET])["webhook-signature"] for each in variants}

    assert len(signatures) == len(variants)
