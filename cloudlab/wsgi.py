"""APIs under uWSGI: processes with threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloudlab import probes
from cloudlab.commands import plain_environment
from cloudlab.plan import Plan
from cloudlab.service import Service

_LOG_FORMAT = '%(addr) [%(ltime)] "%(method) %(uri) %(proto)" %(status) %(size) %(msecs)ms "%(uagent)"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Number of requests that an API processes at the same time."""

    processes: int = 1
    threads: int = 8
    """Number of threads of each process."""


ONE_PROCESS: Final = Workers()


def in_module(name: str) -> tuple[str, str]:
    """Return the option for the object ``application`` in a module."""
    return "--module", f"{name}:application"


def reload_file(plan: Plan, name: str) -> Path:
    """Return the file which, when it is touched, makes an API replace its workers one after the other.

    New workers load the application again, and the API accepts connections all the time.
    """
    return plan.folder.data(name) / "reload"


def wsgi_service(
    plan: Plan,
    name: str,
    application: tuple[str, ...],
    environment: Mapping[str, str],
    *,
    uwsgi: tuple[str, ...] | None = None,
    workers: Workers = ONE_PROCESS,
) -> Service:
    """Return an API as a service.

    Args:
        plan: The plan of the lab.
        name: The name of the service and its port.
        application: uWSGI's options that select the WSGI object.
        environment: Additional environment variables.
        uwsgi: The program and its first arguments; None for the lab's own.
        workers: The number of concurrent requests.
    """
    port = plan.ports[name]
    command = (
        *(uwsgi or (plan.folder.program("uwsgi"),)),
        *("--http-socket", plan.address(name)),
        *application,
        *("--master", "--lazy-apps", "--need-app", "--die-on-term"),
        *("--processes", str(workers.processes), "--threads", str(workers.threads), "--enable-threads"),
        *("--buffer-size", "65535", "--listen", "100"),
        *("--add-header", "Connection: close"),
        *("--worker-reload-mercy", "5"),
        *("--touch-chain-reload", str(reload_file(plan, name))),
        *("--req-logger", f"file:{plan.folder.access_log(name)}", "--log-format", _LOG_FORMAT),
    )
    return Service(
        name=name,
        folder=plan.folder,
        command=command,
        environment=plain_environment(**environment),
        check=lambda since: probes.serves_http(port),
    )
