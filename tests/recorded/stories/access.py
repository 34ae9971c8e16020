"""Callers: passwords, tokens, web pages of other origins, and policy."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import bcrypt
from oslo_config import cfg
from recorded.steps import NETWORKS, RACKS, addresses, policy
from recorded.story import Request, Story, delete, get, lease, patch, post, put

from blazar.api.auth import make_guard
from blazar.settings import ApiSettings

if TYPE_CHECKING:
    from blazar.api.auth import Guard

_CHEAP = 4
"""The minimum cost of bcrypt."""


def _passwords(folder: Path) -> Guard:
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(_CHEAP)).decode()
    file = folder / "users"
    file.write_text(f"operator:{hashed}\nguest:{hashed}:reader\n")
    settings = ApiSettings(auth_strategy="http_basic", http_basic_user_file=str(file))
    return make_guard(settings, cfg.ConfigOpts())


def _keystone(folder: Path) -> Guard:
    file = folder / "blazar.conf"
    file.write_text(
        "[keystone_authtoken]\nauth_type = none\nwww_authenticate_uri = http://keystone.example\n"
    )
    conf = cfg.ConfigOpts()
    conf([], project="blazar", default_config_files=[str(file)], default_config_dirs=[])
    return make_guard(ApiSettings(), conf)


def _no_authentication(folder: Path) -> Guard:
    settings = ApiSettings(auth_strategy="noauth", trusted_hosts=frozenset({"blazar.example"}))
    return make_guard(settings, cfg.ConfigOpts())


def _basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


PASSWORDS = Story(
    name="passwords",
    guard=_passwords,
    parts=(
        get("/v1/leases", "anonymous"),
        get("/v1/leases", "admin"),
        get("/v1/leases", "anonymous", Authorization=_basic("operator", "wrong")),
        get("/v1/leases", "anonymous", Authorization=_basic("stranger", "secret")),
        get("/v1/leases", "anonymous", Authorization="Bearer abc"),
        get("/v1/leases", "anonymous", Authorization="Basic ???"),
        get("/v1/nothing", "anonymous"),
        get("/", "anonymous"),
        get("/v1", "anonymous"),
        get("/v1/leases", "anonymous", Authorization=_basic("operator", "secret")),
        # Identity headers of the client are ignored.
        get("/v1/os-hosts", "admin", Authorization=_basic("guest", "secret")),
        post("/v1/leases", lease("now", 2), "anonymous", Authorization=_basic("guest", "secret")),
        post(
            "/v1/leases",
            lease("now", 2) | {"reservations": []},
            "admin",
            Authorization=_basic("operator", "secret"),
            Content_Type="application/json",
        ),
        get("/v1/leases/<lease-1>", "anonymous", Authorization=_basic("guest", "secret")),
    ),
)

TOKENS = Story(
    name="tokens",
    guard=_keystone,
    parts=(
        get("/v1/leases", "anonymous"),
        get("/v1/leases", "admin"),
        post("/v1/os-hosts", {"name": "h1"}, "anonymous"),
        get("/v1/nothing", "anonymous"),
        get("/", "anonymous"),
        get("/v1/", "anonymous"),
    ),
)

ORIGINS = Story(
    name="origins",
    guard=_no_authentication,
    parts=(
        get("/v1/leases", "anonymous"),
        get("/v1/leases", "lessee", Host="evil.example"),
        get("/v1/leases", "lessee", Host="127.0.0.1:1234"),
        get("/v1/leases", "lessee", Origin="http://evil.example"),
        Request(
            method="POST",
            path="/v1/leases",
            body=lease("now", 2, name="page") | {"reservations": []},
            headers={"Origin": "http://evil.example", "Content-Type": "application/json"},
        ),
        delete("/v1/leases/x", "lessee", Sec_Fetch_Site="cross-site"),
        post("/v1/leases", b'{"name": "x"}', "lessee", Content_Type="text/plain"),
        post("/v1/leases", b'{"name": "x"}', "lessee", Content_Type=""),
        post(
            "/v1/leases", lease("now", 2) | {"reservations": []}, "anonymous", Content_Type="application/json"
        ),
        get("/v1/leases/<lease-1>", "anonymous"),
    ),
)

POLICIES = Story(
    name="policies",
    parts=(
        RACKS,
        NETWORKS,
        addresses(1),
        post("/v1/leases", lease("now", 4), "reader"),
        post("/v1/leases", lease("now", 4), "no role"),
        post("/v1/leases", lease("now", 4), "other role"),
        post("/v1/leases", lease(1, 4, name="mine"), "lessee"),
        post("/v1/leases", lease(2, 5, name="of another project"), "lessee elsewhere"),
        post("/v1/leases", lease(3, 6, name="of no project"), "admin without project"),
        get("/v1/leases", "lessee"),
        get("/v1/leases", "lessee elsewhere"),
        get("/v1/leases", "reader"),
        get("/v1/leases", "no role"),
        get("/v1/leases", "no project"),
        get("/v1/leases", "admin without project"),
        get("/v1/leases/<lease-1>", "colleague"),
        get("/v1/leases/<lease-1>", "reader"),
        get("/v1/leases/<lease-1>", "stranger"),
        get("/v1/leases/<lease-1>", "lessee elsewhere"),
        get("/v1/leases/x", "stranger"),
        get("/v1/leases/x", "no role"),
        put("/v1/leases/<lease-1>", {"name": "y"}, "reader"),
        put("/v1/leases/<lease-1>", {"name": "y"}, "stranger"),
        put("/v1/leases/<lease-1>", {"name": "by a colleague"}, "colleague"),
        put("/v1/leases/<lease-1>", {"name": "by an operator"}, "admin"),
        delete("/v1/leases/<lease-1>", "reader"),
        delete("/v1/leases/<lease-1>", "stranger"),
        delete("/v1/leases/x", "reader"),
        get("/v1/os-hosts", "lessee"),
        get("/v1/os-hosts/x", "lessee"),
        post("/v1/os-hosts", {"name": "h9"}, "lessee"),
        put("/v1/os-hosts/x", {"rack": "r9"}, "lessee"),
        delete("/v1/os-hosts/x", "lessee"),
        get("/v1/os-hosts/allocations", "lessee"),
        get("/v1/os-hosts/x/allocation", "lessee"),
        get("/v1/os-hosts/properties", "lessee"),
        patch("/v1/os-hosts/properties/rack", {"private": True}, "lessee"),
        get("/v1/floatingips", "reader"),
        get("/v1/floatingips", "no role"),
        post("/v1/floatingips", {}, "lessee"),
        delete("/v1/floatingips/<floatingip-1>", "lessee"),
        delete("/v1/floatingips/x", "lessee"),
        policy(
            blazar__oshosts__get="role:reader",
            blazar__oshosts__get_allocations="role:reader",
            blazar__oshosts__get_resource_properties="role:reader",
        ),
        patch("/v1/os-hosts/properties/gpu", {"private": True}),
        get("/v1/os-hosts", "lessee"),
        get("/v1/os-hosts/properties?all=True&detail=True", "lessee"),
        get("/v1/os-hosts/allocations", "stranger"),
        delete("/v1/leases/<lease-1>", "colleague"),
    ),
)

STORIES = (PASSWORDS, TOKENS, ORIGINS, POLICIES)
