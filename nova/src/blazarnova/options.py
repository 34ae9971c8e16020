"""The options in ``nova.conf``, group ``[blazar:physical:host]``."""

from __future__ import annotations

from collections.abc import Sequence

from oslo_config import cfg

from blazarnova.scheduler.filters.decision import FilterSettings

GROUP = "blazar:physical:host"
_NOT_EMPTY = r"\S"

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        "aggregate_freepool_name",
        default="freepool",
        regex=_NOT_EMPTY,
        help="Name of the aggregate of the hosts that Blazar may reserve and that are not reserved now. "
        "Must not be empty, and must equal [nova] aggregate_freepool_name of blazar.conf.",
    ),
    cfg.StrOpt(
        "blazar_owner",
        default="blazar:owner",
        regex=_NOT_EMPTY,
        help="Metadata key under which the aggregate of a reservation names the project that owns it. "
        "Must not be empty, and must equal [nova] blazar_owner of blazar.conf.",
    ),
    cfg.StrOpt(
        "blazar_az_prefix",
        default="blazar_",
        regex=_NOT_EMPTY,
        help="Prefix of the availability zones of reservations. Must not be empty, and must equal "
        "[physical:host] blazar_az_prefix of blazar.conf.",
    ),
    cfg.BoolOpt(
        "allow_preemptibles",
        default=False,
        help="Let servers of flavors with the extra spec blazar:preemptible=true run on hosts of "
        "preemptible_aggregate. They are deleted when a reservation of such a host starts.",
    ),
    cfg.StrOpt(
        "preemptible_aggregate",
        default="freepool",
        help="Name of the aggregate whose hosts take preemptible servers, if allow_preemptibles is on, and "
        "no ordinary ones. Empty for none.",
    ),
    cfg.BoolOpt(
        "allow_preemptibles_on_ordinary_hosts",
        default=False,
        help="Let preemptible servers also run on hosts that Blazar does not manage. "
        "Only with allow_preemptibles.",
    ),
    cfg.StrOpt(
        "project_id_key",
        default="blazar:tenant",
        deprecated_for_removal=True,
        deprecated_reason="It has no effect: a project shares a reservation when its id is a metadata key "
        "of the reservation's aggregate.",
        help="Without effect.",
    ),
)


def list_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """Return the options by group, for oslo.config's generator of sample files."""
    return [(GROUP, OPTIONS)]


def read(conf: cfg.ConfigOpts) -> FilterSettings:
    """Return what *conf* says, as frozen values; registers the options if they are not yet known.

    Raises:
        oslo_config.cfg.ConfigFileValueError: A value cannot be used; names the option and the file.
    """
    conf.register_opts(OPTIONS, group=GROUP)
    group = conf[GROUP]
    return FilterSettings(
        freepool_name=group.aggregate_freepool_name,
        owner_key=group.blazar_owner,
        availability_zone_prefix=group.blazar_az_prefix,
        allow_preemptibles=group.allow_preemptibles,
        preemptible_aggregate=group.preemptible_aggregate,
        allow_preemptibles_on_ordinary_hosts=group.allow_preemptibles_on_ordinary_hosts,
    )
