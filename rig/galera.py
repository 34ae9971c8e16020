"""Galera: three MariaDB servers on this machine that replicate each other, each of which accepts writes."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import Final

from cloudlab import mariadb, sql
from cloudlab.commands import plain_environment, run
from cloudlab.plan import Plan
from cloudlab.ports import ADDRESS
from cloudlab.service import Service
from cloudlab.waiting import wait_until

NODES: Final = ("galera-1", "galera-2", "galera-3")
PORTS: Final = (*NODES, *(f"{node}-{use}" for node in NODES for use in ("group", "ist", "sst")))
"""Names of the ports that a cluster needs."""
DEBIAN: Final = {
    "mariadb-server": "/usr/bin/wsrep_sst_rsync",
    "galera-4": "/usr/lib/galera/libgalera_smm.so",
    "rsync": "/usr/bin/rsync",
}
"""Debian packages needed in addition to the server's, each with a file that only it has."""
_SECONDS_TO_NOTICE: Final = 60
ACCOUNT: Final = "mysql"
"""Account of the nodes if this process is root: transfers by rsync do not work as root."""


class Node(Service):
    """A node. It joins the others when it starts, and copies their data if it was killed."""

    def bootstrap(self, *options: str) -> None:
        """Start it as the first node of a new cluster."""
        first = replace(self, command=(*self.command, "--wsrep-new-cluster", *options))
        Service.start(first)


def make_data(plan: Plan) -> None:
    """Create the data of all nodes, with the same system tables."""
    mariadb.configure(plan)
    mariadb.make_data(plan, NODES[0])
    for node in NODES[1:]:
        shutil.copytree(plan.folder.data(NODES[0]), plan.folder.data(node), dirs_exist_ok=True)
    if os.geteuid() == 0:
        folders = [plan.folder.data(node) for node in NODES] + [
            mariadb.temporary(plan, node) for node in NODES
        ]
        owned = [mariadb.init_sql(plan), *folders]
        run(["chown", "--recursive", ACCOUNT, *map(str, owned)], log=plan.folder.log("galera-install"))


def start(plan: Plan, nodes: tuple[Node, ...]) -> None:
    """Start the cluster; return when all nodes respond."""
    first, *others = nodes
    first.bootstrap(mariadb.init_file(plan))
    first.wait_until_answers()
    # Start them one after the other: the first one copies its data to each.
    for each in others:
        each.start()
        each.wait_until_answers()


def services(plan: Plan, applier_threads: int) -> tuple[Node, ...]:
    """Return the nodes.

    Args:
        plan: The plan; it has the ports in :data:`PORTS`.
        applier_threads: Number of threads with which each node applies the commits of the others.
    """
    return tuple(_node(plan, name, applier_threads) for name in NODES)


def database_url(plan: Plan, node: str, database: str) -> str:
    """Return the URL of a database at one node."""
    return _at(plan, node).database_url(database)


def cut_off(plan: Plan, node: str) -> None:
    """Cut a node off from the others until :func:`reconnect`; clients can still connect to it."""
    _set_provider_option(plan, node, "gmcast.isolate=1")


def reconnect(plan: Plan, node: str) -> None:
    """Let a node that was cut off connect to the others again."""
    _set_provider_option(plan, node, "gmcast.isolate=0")


def wait_until_separated(plan: Plan, node: str) -> None:
    """Return when a node has noticed that it has lost the majority. Raises LabError after a timeout."""
    wait_until(
        lambda: status(plan, node).get("wsrep_cluster_status") == "non-Primary",
        f"{node} notices that the majority is lost",
        seconds=_SECONDS_TO_NOTICE,
    )


def make_primary(plan: Plan, node: str) -> None:
    """Let a node that has lost the majority continue alone, as an operator does if the others are lost.

    The node ignores this until it has noticed the loss: :func:`wait_until_separated`.
    """
    _set_provider_option(plan, node, "pc.bootstrap=YES")


def remove_data(plan: Plan, node: str) -> None:
    """Remove the data of a node that does not run; it copies all data from another one when it starts."""
    for path in plan.folder.data(node).iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def status(plan: Plan, node: str) -> dict[str, str]:
    """Return the status variables of a node about the cluster and itself; empty if it does not respond."""
    rows = sql.find_rows(_at(plan, node), "SHOW GLOBAL STATUS LIKE 'wsrep%%'")
    return {str(name): str(value) for name, value in rows}


def _node(plan: Plan, name: str, applier_threads: int) -> Node:
    return Node(
        name=name,
        folder=plan.folder,
        command=(*_as_account(), *mariadb.command(plan, name), *_options(plan, name, applier_threads)),
        environment=plain_environment(),
        check=lambda since: status(plan, name).get("wsrep_local_state_comment") == "Synced",
    )


def _options(plan: Plan, name: str, applier_threads: int) -> tuple[str, ...]:
    group, ist, transfer = (plan.ports[f"{name}-{use}"] for use in ("group", "ist", "sst"))
    members = ",".join(f"{ADDRESS}:{plan.ports[f'{node}-group']}" for node in NODES)
    provider = {
        "gmcast.listen_addr": f"tcp://{ADDRESS}:{group}",
        "ist.recv_addr": f"{ADDRESS}:{ist}",
        "gcache.size": "64M",
    }
    return (
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
        "--wsrep-on=ON",
        f"--wsrep-provider={DEBIAN['galera-4']}",
        f"--wsrep-provider-options={';'.join(f'{key}={value}' for key, value in provider.items())}",
        "--wsrep-cluster-name=blazar-rig",
        f"--wsrep-cluster-address=gcomm://{members}",
        f"--wsrep-node-name={name}",
        f"--wsrep-node-address={ADDRESS}:{group}",
        "--wsrep-sst-method=rsync",
        f"--wsrep-sst-receive-address={ADDRESS}:{transfer}",
        f"--wsrep-slave-threads={applier_threads}",
    )


def _as_account() -> tuple[str, ...]:
    """Return the command prefix that switches to the account if this process is root."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--init-groups", "--")


def _set_provider_option(plan: Plan, node: str, option: str) -> None:
    sql.execute(_at(plan, node), "SET GLOBAL wsrep_provider_options = %s", option)


def _at(plan: Plan, node: str) -> Plan:
    """Return the plan with which the cloudlab's tools reach one node."""
    return replace(plan, ports={**plan.ports, "mariadb": plan.ports[node]})
