"""A console whose users sign in at a site's identity provider, by Keystone's federation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from keystoneauth1.adapter import Adapter

from cloudlab import blazar, files, ports
from cloudlab.lab import OpenStackLab
from cloudlab.plan import Plan
from cloudlab.service import Service
from cloudlab.wsgi import in_module, wsgi_service

LABEL: Final = "Campus login"
_ISSUER: Final = "https://login.campus.example"
_NAME: Final = "campus"
_PROTOCOL: Final = "openid"
_APIS: Final = ("campus-keystone", "campus-console")
_PROVIDER: Final = Path(__file__).with_name("identity_provider.py")


@contextmanager
def running_single_sign_on(openstack: OpenStackLab, plan: Plan) -> Iterator[str]:
    """Run a console, and a Keystone that trusts it beside the lab's own; yield the console's address.

    All users of the identity provider are lessees in the lessee's project.
    """
    plan = replace(plan, ports={**plan.ports, **ports.choose(_APIS, plan.ports.values())})
    console = f"{plan.url('campus-console')}/ui/"
    with ExitStack() as stack:
        stack.enter_context(_federation(openstack))
        for each in (_keystone(plan, console), _console(plan, console)):
            each.start()
            stack.callback(each.stop)
            each.wait_until_answers()
        yield console


@contextmanager
def _federation(openstack: OpenStackLab) -> Iterator[None]:
    """Tell Keystone of the identity provider, and what its users are."""
    api, account = openstack.api("identity"), openstack.details.accounts["lessee"]
    group = api.post("/groups", json={"group": {"name": _NAME, "domain_id": "default"}}).json()["group"]["id"]
    provider = f"/OS-FEDERATION/identity_providers/{_NAME}"
    mapping = f"/OS-FEDERATION/mappings/{_NAME}"
    rule = {
        "local": [{"user": {"name": "{0}"}, "group": {"id": group}}],
        "remote": [{"type": "OIDC_ACCOUNT"}],
    }
    try:
        _grant(api, group, account.project_id)
        api.put(provider, json={"identity_provider": {"enabled": True, "remote_ids": [_ISSUER]}})
        api.put(mapping, json={"mapping": {"rules": [rule]}})
        api.put(f"{provider}/protocols/{_PROTOCOL}", json={"protocol": {"mapping_id": _NAME}})
        yield
    finally:
        for path in (f"{provider}/protocols/{_PROTOCOL}", mapping, provider, f"/groups/{group}"):
            api.delete(path, raise_exc=False)


def _grant(api: Adapter, group: str, project: str) -> None:
    roles = {each["name"]: each["id"] for each in api.get("/roles").json()["roles"]}
    for name in ("member", "reader"):
        api.put(f"/projects/{project}/groups/{group}/roles/{roles[name]}")


def _keystone(plan: Plan, console: str) -> Service:
    own = (plan.folder.etc("keystone") / "keystone.conf").read_text()
    own = own.replace(plan.url("keystone"), plan.url("campus-keystone"))
    template = plan.folder.environment / "etc" / "keystone" / "sso_callback_template.html"
    files.write(
        plan.folder.etc("campus-keystone") / "keystone.conf",
        f"{own}\n"
        "[auth]\n"
        f"methods = external,password,token,oauth1,mapped,application_credential,{_PROTOCOL}\n"
        "[federation]\n"
        f"trusted_dashboard = {console}session/websso\n"
        f"sso_callback_template = {template}\n"
        f"[{_PROTOCOL}]\n"
        "remote_id_attribute = OIDC_ISS\n",
    )
    environment = {
        "OS_KEYSTONE_CONFIG_DIR": str(plan.folder.etc("campus-keystone")),
        "PYTHONPATH": str(_PROVIDER.parent),
        "OIDC_ISSUER": _ISSUER,
    }
    return wsgi_service(plan, "campus-keystone", in_module(_PROVIDER.stem), environment)


def _console(plan: Plan, console: str) -> Service:
    own = (plan.folder.etc("blazar") / "blazar.conf").read_text()
    own = own.replace(plan.url("keystone"), plan.url("campus-keystone"))
    files.write(
        plan.folder.etc("campus-console") / "blazar.conf",
        f"{own}\n[ui]\npublic_url = {console}\nwebsso = {_PROTOCOL}:{LABEL}\n",
    )
    return wsgi_service(
        plan,
        "campus-console",
        in_module("blazar.wsgi.api"),
        {"OS_BLAZAR_CONFIG_DIR": str(plan.folder.etc("campus-console"))},
        uwsgi=(blazar.program("uwsgi"),),
    )
