"""Output in the operators' guide equals the output of the commands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import old_schema
import pytest
import sqlalchemy as sa
from importer.conftest import ContextOn
from installation import OldInstallation
from programs import run

from blazar.cmd.manage import importing
from blazar.importer.ledger import Kind
from blazar.ports.old_service import NEEDED_REVISION

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "doc" / "operators" / "import.md").read_text()
SHOWN = re.search(r"<!-- The next block is compared.*?-->\n\n```text\n(.*?)```", GUIDE, re.DOTALL)
CONFIGURATION = """
[database]
connection = sqlite:///new.sqlite
[manager]
cloud = simulated
plugins = physical.host.plugin,virtual.instance.plugin,flavor.instance.plugin,virtual.floatingip.plugin
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_report_in_the_guide_is_the_report(
    folder: Path,
    example: OldInstallation,
    context_on: ContextOn,
    sqlite: sa.Engine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old_schema.write("sqlite:///old.sqlite", example.rows)
    arguments = Namespace(source="sqlite:///old.sqlite", dry_run=True, limit=1)

    assert importing.import_all(context_on(sqlite), arguments) == 0

    assert SHOWN is not None
    assert capsys.readouterr().out == SHOWN[1]


def test_the_report_as_json_has_the_same_numbers_and_all_findings(
    folder: Path,
    example: OldInstallation,
    context_on: ContextOn,
    sqlite: sa.Engine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old_schema.write("sqlite:///old.sqlite", example.rows)
    arguments = Namespace(source="sqlite:///old.sqlite", dry_run=True, limit=1, format="json")

    assert importing.import_all(context_on(sqlite), arguments) == 0

    assert SHOWN is not None
    found = json.loads(capsys.readouterr().out)
    assert found["is_dry_run"] is True
    assert f"{len(found['findings'])} findings" in SHOWN[1]
    for row in found["rows"]:
        numbers = [row[key] for key in ("total", "imported", "here", "over", "left_out")]
        assert [row["table"].split("_")[0].lower(), *map(str, numbers)] in [
            [each.split()[0].lower(), *each.split()[-5:]] for each in SHOWN[1].splitlines() if each.split()
        ]


def test_every_kind_of_finding_is_explained() -> None:
    explained = re.findall(r"^\| `([a-z-]+)` \|", GUIDE, re.MULTILINE)

    assert explained == [each.title for each in Kind]
    assert NEEDED_REVISION in GUIDE


def test_the_commands_of_the_guide_work_one_after_the_other(folder: Path) -> None:
    (folder / "blazar.conf").write_text(CONFIGURATION)

    def program(module: str, *arguments: str, code: int = 0) -> str:
        done = run(module, "--config-file", "blazar.conf", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    script = ROOT / "examples" / "importer" / "old_installation.py"
    subprocess.run([sys.executable, "-W", "ignore", str(script), "old.sqlite"], check=True)
    source = ("--from", "sqlite:///old.sqlite")
    assert "run blazar-db-manage upgrade head" in program("blazar.cmd.manage", "import", *source, code=1)
    program("blazar.cmd.db_manage", "upgrade", "head")
    assert program("blazar.cmd.manage", "import", *source, "--dry-run").endswith("nothing was written\n")
    assert program("blazar.cmd.manage", "import", *source).endswith("\ndone\n")
    assert "\nleases                          1147             0          1147" in program(
        "blazar.cmd.manage", "import", *source
    )
    assert "trusts\n" in program("blazar.cmd.manage", "trust", "list", *source)
    assert "0 trusts were deleted, 0 are still there" in program(
        "blazar.cmd.manage", "trust", "delete", *source
    )
    refused = program("blazar.cmd.manage", "import", "--from", "sqlite:///new.sqlite", code=1)
    assert refused.startswith("blazar-manage: sqlite:///new.sqlite is at revision")
