"""Version documents, paths that do not exist, and microversions."""

from __future__ import annotations

from recorded.steps import RACKS
from recorded.story import Request, Story, get, lease, other, post, put

_UNKNOWN = "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10"


def _at(version: str, path: str = "/v1/leases") -> Request:
    return get(path, OpenStack_API_Version=version)


VERSIONS = Story(
    name="versions",
    parts=(
        get("/", "anonymous"),
        get("/versions", "anonymous"),
        get("/v1", "anonymous"),
        get("/v1/", "anonymous"),
        get("/", "admin", OpenStack_API_Version="reservation 9.9", Accept="text/html"),
        get("/v1?format=xml", "anonymous", X_Forwarded_Proto="https", X_Forwarded_Host="other.example"),
        other("HEAD", "/", "anonymous"),
        other("HEAD", "/v1", "anonymous"),
        other("OPTIONS", "/", "anonymous"),
        other("OPTIONS", "/v1/", "anonymous"),
        post("/", {}, "anonymous"),
        other("DELETE", "/versions"),
        put("/v1", {}),
        Request(method="GET", path="/", who="anonymous", mounted_at="/reservation"),
        Request(method="GET", path="/v1", who="anonymous", mounted_at="/reservation"),
        Request(method="GET", path="/v1/leases", mounted_at="/reservation"),
        Request(method="GET", path="/v1//leases", mounted_at="/reservation"),
        get("/healthcheck", "anonymous", Accept="application/json"),
    ),
)

PATHS = Story(
    name="paths",
    parts=(
        get("/versions/"),
        get("/v2/leases"),
        get("/v10/leases"),
        get("/leases"),
        get("/v1/nothing"),
        get("/v1/nothing", OpenStack_API_Version="reservation 9.9"),
        post("/v1/nothing", {"name": "x"}),
        get("/v1/leases/"),
        post("/v1/leases/", lease("now", 2)),
        get("/v1/os-hosts/"),
        get("/v1/floatingips/"),
        get(f"/v1/leases/{_UNKNOWN}/"),
        get("/v1//leases"),
        get("/v1//leases///x?limit=1&marker="),
        post("//v1/leases", lease("now", 2)),
        get("/v1/os-hosts/1/allocation/"),
        get("/v1/os-hosts/1/nothing"),
        get("/v1/floatingips/allocations"),
        get("/v1/leases?limit=1&marker=x&all_projects=1&status=ACTIVE"),
        get("/v1/leases?name=%00"),
        other("HEAD", "/v1/leases"),
        other("HEAD", f"/v1/leases/{_UNKNOWN}"),
        other("OPTIONS", "/v1/leases"),
        other("OPTIONS", f"/v1/leases/{_UNKNOWN}"),
        other("OPTIONS", "/v1/os-hosts/properties/rack"),
        other("PATCH", "/v1/leases"),
        other("DELETE", "/v1/leases"),
        other("PATCH", f"/v1/leases/{_UNKNOWN}"),
        other("POST", f"/v1/leases/{_UNKNOWN}"),
        other("POST", "/v1/os-hosts/allocations"),
        other("GET", "/v1/os-hosts/properties/rack"),
        other("PUT", "/v1/floatingips/x"),
        other("PATCH", "/v1/os-hosts", OpenStack_API_Version="reservation 9.9"),
        get("/v1/leases/%27%20OR%201=1%20--"),
        get("/v1/leases/..%2F..%2Fx"),
        get("/v1/leases/%00"),
        get("/v1/leases/%ff"),
        get("/v1/leases/" + "x" * 300),
        get("/v1/os-hosts/h1"),
        get(f"/v1/floatingips/{_UNKNOWN}"),
    ),
)

MICROVERSIONS = Story(
    name="microversions",
    parts=(
        RACKS,
        get("/v1/leases"),
        _at("reservation 1.0"),
        _at("Reservation   1.0 "),
        _at("compute 2.90"),
        _at("1.0"),
        _at(""),
        _at("compute 2.90, reservation 1.0, placement 9.9"),
        _at("reservation 9.9, reservation 1.0"),
        _at("reservation latest"),
        _at("reservation 1.1"),
        _at("reservation 2.0"),
        _at("reservation 1"),
        _at("reservation abc"),
        _at("reservation 0.9"),
        _at("reservation 01.0"),
        _at("reservation LATEST"),
        _at("reservation 1.0, reservation 9.9"),
        _at("reservation 1.0", f"/v1/leases/{_UNKNOWN}"),
        _at("reservation 9.9", f"/v1/leases/{_UNKNOWN}"),
        get("/v1/os-hosts", "lessee", OpenStack_API_Version="reservation 1.0"),
        get("/v1/os-hosts", "lessee", OpenStack_API_Version="reservation 9.9"),
        post("/v1/leases", b"{", OpenStack_API_Version="reservation 1.0"),
        post("/v1/leases", lease("now", 2), OpenStack_API_Version="reservation 2.0"),
        post("/v1/leases", lease("now", 2), "lessee", OpenStack_API_Version="reservation 1.0"),
        get("/v1/leases/<lease-1>/allocations", "lessee"),
        get("/v1/leases/<lease-1>/allocations", "lessee", OpenStack_API_Version="reservation 1.0"),
        put("/v1/leases/<lease-1>", {"name": "x"}, "lessee", OpenStack_API_Version="reservation 1.0"),
        get("/v1/os-hosts/allocations", OpenStack_API_Version="reservation 1.0"),
        get("/v1/floatingips", "lessee", OpenStack_API_Version="reservation 1.0"),
    ),
)

STORIES = (VERSIONS, PATHS, MICROVERSIONS)
