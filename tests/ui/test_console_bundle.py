"""The committed page and its sources, without Node: what the service and CONTRIBUTING.md rely on."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from pathlib import Path

from blazar.ui.bundle_files import BUNDLE

CONSOLE = Path(__file__).parents[2] / "console"
SOURCES = sorted(each for each in (CONSOLE / "src").rglob("*") if each.suffix in (".ts", ".tsx", ".css"))
GENERATED = CONSOLE / "src/api/schema.d.ts"
LARGEST_BUNDLE = 400_000
LONGEST_SOURCE = 400
RESOURCE_TYPE = re.compile(r"(?i)\b(physical|virtual|flavor):\w+|\bresource_type\s*===\s*[\"']")
ADDRESS = re.compile(r"https?://[^\s\"'`\\)]+")
KNOWN_ADDRESSES = ("http://www.w3.org/", "https://hooks.example.org/")
"""Names of XML namespaces in libraries, and the example in a form; none of them is requested."""


class Page(HTMLParser):
    """The addresses in a page, and what a strict content security policy forbids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.forbidden: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.addresses += [names[each] or "" for each in ("src", "href") if each in names]
        self.forbidden += [f"{tag} {each}" for each in names if each == "style" or each.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.forbidden.append(tag)


def page() -> Page:
    return Page((BUNDLE / "index.html").read_text())


def texts_of_bundle() -> dict[str, str]:
    return {
        each.name: each.read_text() for each in BUNDLE.rglob("*") if each.suffix in (".html", ".js", ".css")
    }


def test_the_page_has_no_inline_scripts_or_styles() -> None:
    assert page().forbidden == []


def test_all_addresses_of_the_page_are_relative_and_exist() -> None:
    files = [each for each in page().addresses if not each.startswith("data:")]

    assert files
    assert all(each.startswith("./") and (BUNDLE / each).is_file() for each in files)


def test_the_bundle_requests_nothing_from_others() -> None:
    found = {
        (name, address)
        for name, text in texts_of_bundle().items()
        for address in ADDRESS.findall(text)
        if not address.startswith(KNOWN_ADDRESSES)
    }

    assert found == set()


def test_the_bundle_uses_no_code_from_texts() -> None:
    assert [
        name for name, text in texts_of_bundle().items() if re.search(r"\beval\(|\bnew Function\(", text)
    ] == []


def test_the_bundle_is_small_enough() -> None:
    sizes = [len(gzip.compress(text.encode())) for text in texts_of_bundle().values()]

    assert sum(sizes) <= LARGEST_BUNDLE


def test_the_licences_of_libraries_are_in_the_bundle() -> None:
    licences = (BUNDLE / "licences.txt").read_text()

    assert all(name in licences for name in ("preact", "echarts", "zrender"))


def test_the_page_names_no_resource_type() -> None:
    found = [
        f"{path.relative_to(CONSOLE)}:{number}: {line.strip()}"
        for path in SOURCES
        if path != GENERATED
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if RESOURCE_TYPE.search(line)
    ]

    assert found == []


def test_no_source_is_too_long() -> None:
    lengths = {
        str(path.relative_to(CONSOLE)): len(path.read_text().splitlines())
        for path in SOURCES
        if path != GENERATED
    }

    assert {path: length for path, length in lengths.items() if length > LONGEST_SOURCE} == {}


def test_only_preferences_are_stored_in_the_browser() -> None:
    storing = re.compile(r"localStorage|sessionStorage|indexedDB|document\.cookie")

    users = [path.name for path in SOURCES if storing.search(path.read_text())]

    assert users == ["preferences.ts"]


def test_the_lock_file_names_no_registry() -> None:
    lock = (CONSOLE / "package-lock.json").read_text()

    assert '"resolved"' not in lock
    assert "registry" not in lock


def test_all_versions_are_exact() -> None:
    package = (CONSOLE / "package.json").read_text()

    assert re.findall(r'"[~^>][\d.]+"', package.replace('">=20.19"', "")) == []
