"""The policy of a service whose operator has changed none of its rules."""

from __future__ import annotations

import functools

from oslo_config import cfg

from blazar.api.permissions import Policy
from blazar.api.policies import make_policy


def empty_configuration() -> cfg.ConfigOpts:
    """Return a configuration that is read from no file."""
    conf = cfg.ConfigOpts()
    conf([], project="blazar", default_config_files=[], default_config_dirs=[])
    return conf


@functools.cache
def default_policy() -> Policy:
    """Return the policy; the same one each time, because it takes long to make."""
    return make_policy(empty_configuration())
