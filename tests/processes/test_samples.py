"""Sample files that the libraries' tools generate contain every option and every policy rule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from blazar import config
from blazar.api.policies import list_rules
from blazar.settings import Settings

BIN = Path(sys.executable).parent
ETC = Path(__file__).resolve().parents[2] / "etc"


def generate(tool: str, *arguments: str) -> str:
    """Return the output of a generator for the service."""
    return print_of(tool, "--namespace", "blazar", *arguments)


def print_of(tool: str, *arguments: str) -> str:
    command = [str(BIN / tool), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sample_configuration_has_every_option_and_can_be_read(tmp_path: Path) -> None:
    sample = print_of("oslo-config-generator", "--config-file", str(ETC / "config-generator.conf"))

    for group, options in config.list_opts():
        assert f"[{group or 'DEFAULT'}]" in sample
        for option in options:
            assert f"#{option.dest} =" in sample, option.name
    path = tmp_path / "blazar.conf"
    path.write_text(sample)
    settings = config.read_settings(config.make_conf([], "test", config_files=[str(path)]))
    assert settings == Settings(own=tuple(type(each)() for each in settings.own))


def test_the_sample_policy_has_every_rule() -> None:
    sample = print_of("oslopolicy-sample-generator", "--config-file", str(ETC / "policy-generator.conf"))

    for rule in list_rules():
        assert f'#"{rule.name}": "' in sample


def test_the_rules_in_force_are_those_of_the_operators_file(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text('"blazar:oshosts:get": "role:member"\n')
    (tmp_path / "blazar.conf").write_text("[DEFAULT]\n")

    rules = yaml.safe_load(
        generate("oslopolicy-policy-generator", "--config-file", str(tmp_path / "blazar.conf"))
    )

    assert rules["blazar:oshosts:get"] == "role:member"
    assert rules["blazar:oshosts:post"] == "rule:admin"
    assert rules.keys() >= {each.name for each in list_rules()}


def test_rules_that_only_repeat_the_defaults_are_found(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text('"blazar:oshosts:get": "rule:admin"\n')
    (tmp_path / "blazar.conf").write_text("[DEFAULT]\n")

    found = generate("oslopolicy-list-redundant", "--config-file", str(tmp_path / "blazar.conf"))

    assert "blazar:oshosts:get" in found
