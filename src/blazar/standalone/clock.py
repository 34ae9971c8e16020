"""The clock of the embedded service, which can run faster than the system's."""

from __future__ import annotations

from datetime import datetime

from oslo_config.cfg import ConfigOpts

from blazar.manager.clocks import FastClock, SystemClock
from blazar.ports.clock import Clock


def embedded_clock(conf: ConfigOpts) -> Clock:
    """Return the clock of ``[standalone]``; the system's unless a speed or an epoch is configured.

    Raises:
        ValueError: The epoch is not an instant, or has no offset.
    """
    speed, epoch = conf.standalone.clock_speed, conf.standalone.clock_epoch
    if speed == 1 and epoch is None:
        return SystemClock()
    since = SystemClock().now() if epoch is None else datetime.fromisoformat(epoch)
    if since.utcoffset() is None:
        raise ValueError("[standalone] clock_epoch: must have an offset, such as +00:00")
    return FastClock(epoch=since, speed=speed)
