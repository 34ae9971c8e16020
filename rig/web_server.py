"""nginx in front of the API, configured as in the operators' guide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cloudlab import files, probes
from cloudlab.commands import plain_environment
from cloudlab.errors import LabError
from cloudlab.folder import REPOSITORY
from cloudlab.plan import Plan
from cloudlab.service import Service

PROGRAM: Final = "/usr/sbin/nginx"
EXAMPLE: Final = REPOSITORY / "etc" / "nginx.conf"
"""The file shown in the guide."""
_AS_IT_IS: Final[Mapping[str, str]] = {}
_TEMPORARY: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def configure(plan: Plan, changes: Mapping[str, str] = _AS_IT_IS) -> None:
    """Write the configuration: the guide's, with ports and paths of the plan's.

    Args:
        plan: The plan of the installation.
        changes: Further replacements, by the text that they replace.

    Raises:
        LabError: A text to replace is missing or occurs more than once.
    """
    data = plan.folder.data("nginx")
    paths = "".join(f"{name}_temp_path {data / name};\n" for name in _TEMPORARY)
    places = {
        "listen 1234;": f"listen {plan.address('nginx')};",
        "server 127.0.0.1:1235;": f"server {plan.address('blazar-api')};",
        "/run/nginx.pid": str(data / "pid"),
        "/var/log/nginx/error.log": "stderr",
        "/var/log/nginx/access.log": str(plan.folder.access_log("nginx")),
        # The paths of buffer files were chosen when nginx was built.
        "http {\n": f"http {{\n{paths}",
        **changes,
    }
    files.write(plan.folder.etc("nginx") / "nginx.conf", _filled(EXAMPLE.read_text(), places))


def service(plan: Plan) -> Service:
    """Return nginx as a service."""
    port = plan.ports["nginx"]
    conf = plan.folder.etc("nginx") / "nginx.conf"
    return Service(
        name="nginx",
        folder=plan.folder,
        command=(PROGRAM, "-e", "stderr", "-c", str(conf), "-g", "daemon off;"),
        environment=plain_environment(),
        check=lambda since: probes.serves_http(port),
    )


def _filled(text: str, places: Mapping[str, str]) -> str:
    for place, instead in places.items():
        if text.count(place) != 1:
            raise LabError(f"{EXAMPLE.name} must contain {place!r} exactly once")
        text = text.replace(place, instead)
    return text
