"""Fixtures of the tests of the OpenStack adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clocks import ManualClock
from cloud.openstack.stub import StubCloud
from oslo_config import cfg

from blazar import config
from blazar.cloud.openstack import options
from blazar.cloud.openstack.driver import OpenStackCloud, make_cloud

MakeConf = Callable[[str], cfg.ConfigOpts]
MakeCloud = Callable[[str], OpenStackCloud]


@pytest.fixture
def stub() -> Iterator[StubCloud]:
    with StubCloud() as stub:
        yield stub


@pytest.fixture
def make_conf(tmp_path: Path) -> MakeConf:
    """Factory of a configuration from a file with this content."""

    def make(text: str) -> cfg.ConfigOpts:
        path = tmp_path / "blazar.conf"
        path.write_text(text)
        conf = config.make_conf([], "test", config_files=[str(path)])
        options.register(conf)
        return conf

    return make


@pytest.fixture
def cloud_of(make_conf: MakeConf) -> MakeCloud:
    """Factory of a cloud from a file with this content."""
    return lambda text: make_cloud(make_conf(text), ManualClock())


@pytest.fixture
def credentials(stub: StubCloud) -> str:
    """A configuration for all services of the stub."""
    return f"""
[keystone]
auth_type = password
auth_url = {stub.url}/identity
username = blazar
password = pass-word
project_name = service
user_domain_name = Default
project_domain_name = Default
"""


@pytest.fixture
def cloud(cloud_of: MakeCloud, credentials: str) -> OpenStackCloud:
    return cloud_of(credentials)
