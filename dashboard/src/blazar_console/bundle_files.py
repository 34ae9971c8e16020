"""The files of the page, which are part of the package."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Final

_BUNDLE: Final = Path(__file__).parent / "bundle"
_INDEX: Final = "index.html"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_FILES: Final = {
    each.relative_to(_BUNDLE).as_posix(): each.read_bytes() for each in _BUNDLE.rglob("*") if each.is_file()
}


def find_file(name: str) -> tuple[bytes, dict[str, str]] | None:
    """Return the content of a file and its headers, or None; the empty name is the page."""
    content = _FILES.get(name or _INDEX)
    if content is None:
        return None
    kind = mimetypes.guess_type(name or _INDEX)[0] or "application/octet-stream"
    # The names of assets contain a hash of their content.
    caching = "private, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
    return content, {
        "Content-Type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "Cache-Control": caching,
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
    }
