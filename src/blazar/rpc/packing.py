"""Compression of long strings on the bus.

The library encodes an answer as JSON and then embeds this string in JSON once more. For a string that is
itself JSON, most of the time would be spent on escaping and unescaping quotation marks. A packed string has
about one eighth of the size, and nothing in it is escaped. RabbitMQ 4 rejects messages of more than 16 MiB by
default, the size of about 10,000 leases.
"""

from __future__ import annotations

import base64
import zlib

_FASTEST = 1
"""Higher levels cost more time than the saved bytes are worth."""


def packed(text: str) -> str:
    """Return a compressed text, as ASCII letters that JSON does not escape."""
    return base64.b64encode(zlib.compress(text.encode(), _FASTEST)).decode()


def unpacked(text: str) -> str:
    """Return the text that was passed to :func:`packed`."""
    return zlib.decompress(base64.b64decode(text)).decode()
