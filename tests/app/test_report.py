"""``blazar-manage report``: its formats, its arguments, and the page with plots."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from app.http_env import STRANGER, HttpEnv

from blazar.cmd.manage import report
from blazar.domain.errors import InvalidParameter

FIGURES = ("reserved", "in_use", "idle", "no_show", "lost", "unknown")
PAGE = "blazar.cmd.manage.report_page"


def arguments(*words: str) -> Any:
    parser = argparse.ArgumentParser()
    report.add_parsers(parser.add_subparsers())
    return parser.parse_args(["report", *words])


@pytest.fixture
def printed(env: HttpEnv, hosts: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that returns the report on two leases, of two and one hosts for two hours."""
    env.create(60, 180, min=2, max=2)
    env.create(60, 180, who=STRANGER)
    env.pass_time(240)

    def run(*words: str) -> str:
        assert report.print_report(env.context, arguments("--from", env.date(0), *words)) == 0
        return capsys.readouterr().out

    return run


def test_a_table_has_a_line_for_each_project_and_unit(printed: Any) -> None:
    lines = printed().splitlines()

    assert lines[0] == "Hours from 2031-01-01 00:00 to 2031-01-01 04:00 UTC"
    assert lines[2].split() == ["project", "unit", "class", *FIGURES, "use"]
    hosts = [line.split() for line in lines[3:] if line.split()[2] == "-"]
    assert [row[:4] for row in hosts] == [
        ["elsewhere", "hosts", "-", "2.0"],
        ["project", "hosts", "-", "4.0"],
    ]
    assert {row[-1] for row in hosts} == {"0%"}


def test_a_table_has_only_steps_with_hours(printed: Any) -> None:
    lines = printed("--step", "hour", "--project", "project", "--property", "rack").splitlines()

    assert lines[2].split()[:2] == ["rack", "from"]
    starts = [" ".join(line.split()[1:3]) for line in lines[3:] if line.split()[4] == "-"]
    assert sorted(set(starts)) == ["2031-01-01 01:00", "2031-01-01 02:00"]


def test_csv_and_json_have_the_same_numbers(printed: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(printed("-f", "csv", "--step", "120"))))
    document = json.loads(printed("-f", "json", "--step", "120"))

    assert list(rows[0]) == ["project", "start_date", "end_date", "unit", "resource_class", *FIGURES]
    assert len(document["steps"]) == 2
    written = [
        (group["value"], step["start_date"], amount["resource_class"] or "", hours["reserved"])
        for group in document["groups"]
        for amount in group["amounts"]
        for step, hours in zip(document["steps"], amount["steps"], strict=True)
    ]
    assert written == [
        (each["project"], each["start_date"], each["resource_class"], float(each["reserved"]))
        for each in rows
    ]
    without_steps = list(csv.DictReader(io.StringIO(printed("-f", "csv"))))
    assert "start_date" not in without_steps[0]


def test_a_page_is_one_file_with_plots_that_needs_no_network(printed: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"

    assert printed("-f", "html", "-o", str(path)) == ""

    page = path.read_text(encoding="utf-8")
    plots = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(plots) == 2
    texts = ["".join(ElementTree.fromstring(each).itertext()) for each in plots]
    assert "hosts: hours over time" in texts[0]
    assert "hosts: hours by project" in texts[1]
    assert "elsewhere" in texts[1]
    assert "<script" not in page
    # Only names of namespaces look like addresses.
    assert set(re.findall(r"https?://[^/\"]+", page)) == {"http://www.w3.org"}
    assert "<td>project</td><td>-</td><td>4.0</td>" in page
    assert printed("-f", "html") == page


def test_names_in_a_page_are_escaped(env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
    env.register("h1", rack="<b>$x$ & co</b>")
    env.create(60, 120)

    words = ("--from", env.date(0), "--to", env.date(240), "--property", "rack", "-f", "html")
    assert report.print_report(env.context, arguments(*words)) == 0

    page = capsys.readouterr().out
    assert "&lt;b&gt;$x$ &amp; co&lt;/b&gt;" in page
    assert "<b>$x$" not in page


@pytest.mark.parametrize("name", ["rack", r"a$\frac$b", "</svg><script>", "日本"])
@pytest.mark.parametrize("value", [r"$\foo$ $", "\\$a$ x $b$", "</svg><script>", "日本", "a\n\x1b[31m"])
def test_any_name_can_be_drawn(
    env: HttpEnv, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    env.register("h1", **{name: value})
    env.create(60, 120)

    words = ("--from", env.date(0), "--to", env.date(240), "--property", name, "-f", "html")
    assert report.print_report(env.context, arguments(*words)) == 0

    page = capsys.readouterr().out
    assert "<script" not in page
    assert "\x1b" not in page
    drawn = "".join(
        text
        for each in re.findall(r"<svg.*?</svg>", page, re.DOTALL)
        for text in ElementTree.fromstring(each).itertext()
    )
    assert f"hosts: hours by {name}" in drawn
    assert value.split("\n")[0] in drawn


def test_an_output_that_cannot_be_written_is_named(env: HttpEnv, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        report.print_report(env.context, arguments("-o", str(tmp_path)))


def test_an_empty_page_says_so(env: HttpEnv, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.print_report(env.context, arguments("-f", "html", "--from", "2030-12-20 00:00")) == 0

    assert "Nothing was reserved." in capsys.readouterr().out


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the library of the plots be missing."""
    with monkeypatch.context() as patch:
        for name in [each for each in sys.modules if each.startswith((PAGE, "blazar.cmd.manage.report_p"))]:
            patch.delitem(sys.modules, name)
        patch.setitem(sys.modules, "matplotlib", None)
        yield


@pytest.mark.usefixtures("without_library")
def test_without_the_library_a_page_is_refused_and_a_table_is_not(printed: Any) -> None:
    with pytest.raises(ValueError, match=r"needs the library matplotlib: install blazar\[report\]"):
        printed("-f", "html")

    assert printed().startswith("Hours from")


@pytest.mark.parametrize("step", ["0", "month", "-1", "1.5"])
def test_a_bad_step_is_refused(step: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(f"--step={step}")

    assert "is not hour, day, week or a number of minutes" in capsys.readouterr().err


def test_a_bad_date_is_named(env: HttpEnv) -> None:
    with pytest.raises(InvalidParameter, match="from"):
        report.print_report(env.context, arguments("--from", "may"))


def test_the_first_days_of_the_calendar_can_be_reported(
    env: HttpEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.print_report(env.context, arguments("--to", "0001-01-20 00:00")) == 0

    assert capsys.readouterr().out.startswith("Hours from 0001-01-01 00:00 to 0001-01-20 00:00 UTC")
