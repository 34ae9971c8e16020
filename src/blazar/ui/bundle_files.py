"""The files of the page, which are part of the package."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

BUNDLE: Final = Path(__file__).parent / "bundle"
INDEX: Final = "index.html"
_ASSETS: Final = "assets/"
_YEAR: Final = "public, max-age=31536000, immutable"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    content: bytes
    compressed: bytes
    content_type: str
    etag: str


class BundleFiles:
    """The page and its assets, kept in memory.

    Raises:
        ValueError: The folder has no page.
    """

    def __init__(self, folder: Path, frame_ancestors: Iterable[str]) -> None:
        if not (folder / INDEX).is_file():
            raise ValueError(f"[ui] enabled: the console is not part of this installation: {folder} is empty")
        self._files: Mapping[str, _File] = {
            each.relative_to(folder).as_posix(): _read(each) for each in folder.rglob("*") if each.is_file()
        }
        origins = list(frame_ancestors)
        self._headers = [
            ("Content-Security-Policy", _POLICY.format(" ".join(origins) or "'none'")),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            *([] if origins else [("X-Frame-Options", "DENY")]),
        ]

    def serve(self, name: str, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond with a file of the bundle; the empty name is the page."""
        found = self._files.get(name or INDEX)
        if found is None:
            start_response("404 Not Found", [("Content-Type", "text/plain"), *self._headers])
            return [b"There is no such page. The console is at ui/.\n"]
        # The names of assets contain a hash of their content.
        caching = _YEAR if name.startswith(_ASSETS) else "no-cache"
        headers = [
            ("Cache-Control", caching),
            ("ETag", found.etag),
            ("Vary", "Accept-Encoding"),
            *self._headers,
        ]
        if environ.get("HTTP_IF_NONE_MATCH") == found.etag:
            start_response("304 Not Modified", headers)
            return []
        headers.append(("Content-Type", found.content_type))
        content = found.content
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            content = found.compressed
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(content)))])
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [content]


def _read(path: Path) -> _File:
    content = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/") or kind.endswith(("javascript", "json"))
    return _File(
        content=content,
        compressed=gzip.compress(content, mtime=0),
        content_type=f"{kind}; charset=utf-8" if is_text else kind,
        etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
    )
