"""Files to be sourced by a shell, for the ``openstack`` command."""

from __future__ import annotations

import shlex

from cloudlab import files
from cloudlab.details import Account, Details
from cloudlab.folder import Folder


def write(folder: Folder, details: Details) -> None:
    """Write ``openrc`` of the administrator, and one of each lessee."""
    files.write(folder.root / "openrc", _text(folder, details, details.accounts["admin"]))
    for name in ("lessee", "other"):
        files.write(folder.root / f"openrc-{name}", _text(folder, details, details.accounts[name]))


def _text(folder: Folder, details: Details, account: Account) -> str:
    variables = {
        "OS_AUTH_TYPE": "password",
        "OS_AUTH_URL": details.auth_url,
        "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": details.region,
        "OS_USERNAME": account.user,
        "OS_PASSWORD": account.password,
        "OS_USER_DOMAIN_NAME": "Default",
        "OS_PROJECT_NAME": account.project,
        "OS_PROJECT_DOMAIN_NAME": "Default",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    programs = shlex.quote(str(folder.environment / "bin"))
    return "\n".join([*lines, f'export PATH="$PATH":{programs}']) + "\n"
