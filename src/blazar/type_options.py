"""Declaration of the options of a resource type, in ``options.py`` of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oslo_config import cfg

from blazar.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeOptions:
    """The options of a resource type, and what they mean for the code below the wiring."""

    groups: Mapping[str, Sequence[cfg.Opt]]
    """The options by group; other parts of the service may have options in the same group."""
    with_options: Callable[[cfg.ConfigOpts, Settings], Settings]
    """Returns the settings with the values of these options."""
