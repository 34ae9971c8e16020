"""``blazar-standalone``: the whole service in one process, on loopback, with a simulated cloud."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from oslo_config import cfg

from blazar import config
from blazar.cmd.http import check_exposure, make_server, serve_until
from blazar.cmd.problems import run
from blazar.cmd.signals import stop_event
from blazar.standalone.example_leases import create_example_leases
from blazar.standalone.machines import (
    EXAMPLES,
    Machine,
    apply_machines,
    read_machines,
    register_addresses,
)
from blazar.standalone.service import build
from blazar.ui.application import PATH as CONSOLE

_CLI_OPTIONS = [
    cfg.HostAddressOpt("listen-host", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("listen-port", default=1234, help="Port to listen on; 0 for any free port."),
    cfg.StrOpt("state-dir", help="Folder for the database and the state of the simulated cloud."),
    cfg.StrOpt(
        "machines",
        metavar="FILE.yaml",
        help="File with the machines to use as hosts: name, vcpus, memory_mb, disk_gb, properties. At each "
        "start, hosts are registered, changed and removed to match the file.",
    ),
    cfg.BoolOpt(
        "examples",
        default=False,
        help="Register the hosts of the simulated cloud, with racks and GPUs, and some addresses.",
    ),
    cfg.BoolOpt(
        "example-leases",
        default=False,
        help="With --examples: if there are no leases yet, create some of several projects, to fill the "
        "calendar of the console.",
    ),
    cfg.BoolOpt(
        "allow-unauthenticated-access",
        default=False,
        help="Listen on an address that other machines can reach, without authentication.",
    ),
]


def main() -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    return run("blazar-standalone", _serve)


def _serve() -> int:
    stop = stop_event()
    # Only this user may read the database, the simulated cloud, the lock and the logs.
    os.umask(0o077)
    # Read only files from the command line; default files belong to an installed service.
    conf = config.make_conf(
        sys.argv[1:], "blazar-standalone", config_files=(), conf=cfg.CONF, cli_options=_CLI_OPTIONS
    )
    # Without Keystone unless it is configured.
    conf.set_default("auth_strategy", "noauth")
    if conf.state_dir:
        conf.set_override("state_dir", conf.state_dir, group="standalone")
    config.set_up_logging(conf)
    check_exposure(conf, conf.listen_host, conf.allow_unauthenticated_access)
    conf.set_default("host", conf.listen_host)
    machines = _machines(conf)
    if conf.machines:
        # The simulated cloud has no other hosts.
        conf.set_default("hosts", 0, group="simulated_cloud")
    embedded = build(conf)
    if machines:
        apply_machines(embedded.context, embedded.cloud, machines, stop)
    if conf.examples:
        register_addresses(embedded.context, embedded.cloud)
        if conf.example_leases:
            create_example_leases(embedded.context)
    server = make_server(embedded.application, conf, conf.listen_host, conf.listen_port)
    embedded.reconciler.start()
    print(f"blazar is at http://{conf.listen_host}:{server.effective_port}/v1", flush=True)
    if conf.ui.enabled:
        print(f"its console is at {_url(conf, server.effective_port)}{CONSOLE}/", flush=True)
    print(_next_steps(conf, server.effective_port, has_hosts=bool(machines)), end="", flush=True)
    serve_until(server, stop)
    embedded.reconciler.stop()
    return 0


def _machines(conf: cfg.ConfigOpts) -> tuple[Machine, ...]:
    """Return the machines to use as hosts. Raises ValueError if the file is not usable."""
    if conf.machines:
        return read_machines(Path(conf.machines))
    return EXAMPLES if conf.examples else ()


def _next_steps(conf: cfg.ConfigOpts, port: int, *, has_hosts: bool) -> str:
    """Return commands to paste into a shell; empty if they would need a password or a token."""
    if conf.auth_strategy != "noauth":
        return ""
    lines = [
        f'export PATH="{Path(sys.executable).parent}:$PATH"',
        f"export OS_AUTH_TYPE=none OS_ENDPOINT={_url(conf, port)}",
        "blazar host-list" if has_hosts else "blazar host-create host-1",
        "blazar lease-create first --duration 1h --wait --physical-reservation min=1,max=1",
        "blazar lease-resources first",
    ]
    return "Next, in another terminal:\n" + "".join(f"  {each}\n" for each in lines)


def _url(conf: cfg.ConfigOpts, port: int) -> str:
    """Return the address of the service for this machine."""
    host = "127.0.0.1" if conf.listen_host in {"0.0.0.0", "::"} else conf.listen_host  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


if __name__ == "__main__":
    sys.exit(main())
