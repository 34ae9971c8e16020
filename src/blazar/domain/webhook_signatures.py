"""Signatures of webhooks, as the Standard Webhooks specification defines them."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime
from typing import Final

PREFIX: Final = "whsec_"
KEY_BYTES: Final = 32


def secret_of(key: bytes) -> str:
    """Return the form of a key that receivers get."""
    return PREFIX + base64.b64encode(key).decode()


def signed_headers(message_id: str, at: datetime, body: bytes, secrets: Iterable[str]) -> dict[str, str]:
    """Return the headers that identify and sign a request.

    Args:
        message_id: The id of the message, the same at every attempt.
        at: Time of the attempt; receivers refuse old requests.
        body: The body.
        secrets: The keys, in the form of :func:`secret_of`; one signature for each.
    """
    timestamp = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_sign(each, signed)}" for each in secrets),
    }


def _sign(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
