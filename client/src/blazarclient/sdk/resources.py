"""Resources of the reservation service for openstacksdk."""

from __future__ import annotations

from typing import Any

from openstack import resource

from blazarclient.sdk.base_resource import PAGES, BaseResource, ResourceOf11


class Lease(BaseResource):
    """Reservations for a project, from a start to an end date; dates are UTC."""

    base_path = "/leases"
    resource_key = "lease"
    resources_key = "leases"
    _query_mapping = PAGES
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True

    #: ``PENDING``, ``ACTIVE``, ``TERMINATED``, ``ERROR``, or a transitional status.
    status = resource.Body("status")
    #: In requests ``2031-04-06 22:00`` or ``now``; in responses with seconds.
    start_date = resource.Body("start_date")
    end_date = resource.Body("end_date")
    before_end_date = resource.Body("before_end_date")
    reservations = resource.Body("reservations", type=list)
    events = resource.Body("events", type=list)
    is_degraded = resource.Body("degraded", type=bool)
    user_id = resource.Body("user_id")
    project_id = resource.Body("project_id")
    created_at = resource.Body("created_at")
    updated_at = resource.Body("updated_at")


class Host(BaseResource):
    """A compute host that can be reserved; its extra capabilities are attributes."""

    base_path = "/os-hosts"
    resource_key = "host"
    resources_key = "hosts"
    _query_mapping = PAGES
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True
    _allow_unknown_attrs_in_body = True

    hypervisor_hostname = resource.Body("hypervisor_hostname")
    hypervisor_type = resource.Body("hypervisor_type")
    hypervisor_version = resource.Body("hypervisor_version")
    service_name = resource.Body("service_name")
    availability_zone = resource.Body("availability_zone")
    vcpus = resource.Body("vcpus", type=int)
    memory_mb = resource.Body("memory_mb", type=int)
    local_gb = resource.Body("local_gb", type=int)
    #: JSON text.
    cpu_info = resource.Body("cpu_info")
    is_reservable = resource.Body("reservable", type=bool)
    status = resource.Body("status")
    created_at = resource.Body("created_at")
    updated_at = resource.Body("updated_at")

    @classmethod
    def _get_one_match(cls, name_or_id: str, results: Any) -> Any:
        """Return the host with an id or host name among *results*."""
        found = [each for each in results if name_or_id in (each.id, each.hypervisor_hostname)]
        return found[0] if found else None


class FloatingIP(BaseResource):
    """A floating IP that can be reserved."""

    base_path = "/floatingips"
    resource_key = "floatingip"
    resources_key = "floatingips"
    _query_mapping = PAGES
    allow_create = allow_fetch = allow_delete = allow_list = True

    floating_ip_address = resource.Body("floating_ip_address")
    floating_network_id = resource.Body("floating_network_id")
    subnet_id = resource.Body("subnet_id")
    is_reservable = resource.Body("reservable", type=bool)
    created_at = resource.Body("created_at")
    updated_at = resource.Body("updated_at")


class Allocation(BaseResource):
    """Current and future reservations of a host."""

    base_path = "/os-hosts/allocations"
    resource_key = "allocation"
    resources_key = "allocations"
    allow_list = True
    _query_mapping = resource.QueryParameters("lease_id", "reservation_id")

    resource_id = resource.Body("resource_id", alternate_id=True)
    #: Objects with ``id``, ``lease_id``, ``start_date`` and ``end_date``.
    reservations = resource.Body("reservations", type=list)


class ResourceProperty(BaseResource):
    """A property that requirements on hosts can use."""

    base_path = "/os-hosts/properties"
    resource_key = "resource_property"
    resources_key = "resource_properties"
    allow_commit = allow_list = True
    commit_method = "PATCH"
    _query_mapping = resource.QueryParameters("detail", "all", include_pagination_defaults=False)

    property = resource.Body("property", alternate_id=True)
    is_private = resource.Body("private", type=bool)
    #: The values that hosts have for the property.
    property_values = resource.Body("values", type=list)


class Network(BaseResource):
    """A network segment that can be reserved; extra capabilities are attributes."""

    base_path = "/networks"
    resource_key = "network"
    resources_key = "networks"
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True
    _allow_unknown_attrs_in_body = True

    #: ``vlan``, ``vxlan`` or ``flat``.
    network_type = resource.Body("network_type")
    physical_network = resource.Body("physical_network")
    segment_id = resource.Body("segment_id", type=int)
    is_reservable = resource.Body("reservable", type=bool)


class NetworkAllocation(Allocation):
    """Current and future reservations of a network segment."""

    base_path = "/networks/allocations"
    _query_mapping = resource.QueryParameters("lease_id", "reservation_id", include_pagination_defaults=False)


class NetworkProperty(ResourceProperty):
    """A property that requirements on network segments can use."""

    base_path = "/networks/properties"


class Offer(ResourceOf11):
    """Resources that are held for a short time."""

    base_path = "/offers"
    resource_key = "offer"
    resources_key = "offers"
    allow_create = allow_fetch = allow_delete = allow_list = True

    #: ``OPEN``, ``COMMITTED`` or ``EXPIRED``.
    status = resource.Body("status")
    start_date = resource.Body("start_date")
    end_date = resource.Body("end_date")
    before_end_date = resource.Body("before_end_date")
    #: Time until which the resources are held.
    expires_at = resource.Body("expires_at")
    #: In requests: for how long the resources are held.
    ttl_seconds = resource.Body("ttl_seconds", type=int)
    reservations = resource.Body("reservations", type=list)
    #: Id of the lease that was made from the offer, or that the offer would change.
    lease_id = resource.Body("lease_id")
    user_id = resource.Body("user_id")
    project_id = resource.Body("project_id")
    created_at = resource.Body("created_at")


class Feed(ResourceOf11):
    """A calendar that anyone who has its address can read."""

    base_path = "/feeds"
    resource_key = "feed"
    resources_key = "feeds"
    allow_create = allow_fetch = allow_delete = allow_list = True
    _query_mapping = resource.QueryParameters("project_id", include_pagination_defaults=False)

    #: ``lease``, ``user``, ``project`` or ``availability``.
    kind = resource.Body("kind")
    lease_id = resource.Body("lease_id")
    #: Minutes before the end of a lease at which programs remind users of it; 0 for no reminders.
    alarm_minutes = resource.Body("alarm_minutes", type=int)
    resource_type = resource.Body("resource_type")
    #: A requirement that the resources satisfy.
    filter = resource.Body("filter")
    unit = resource.Body("unit")
    group_by = resource.Body("group_by")
    group = resource.Body("group")
    #: A time at which fewer are free is busy.
    amount = resource.Body("amount", type=int)
    #: The address of the calendar; only in the answer to its creation.
    url = resource.Body("url")
    user_id = resource.Body("user_id")
    project_id = resource.Body("project_id")
    created_at = resource.Body("created_at")
    #: None if feeds do not expire.
    expires_at = resource.Body("expires_at")
    last_used_on = resource.Body("last_used_on")


class Maintenance(ResourceOf11):
    """Resources that no new lease gets for a period."""

    base_path = "/maintenance"
    resource_key = "maintenance"
    resources_key = "maintenances"
    _request_only = ("remove_resources",)
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True

    status = resource.Body("status")
    reason = resource.Body("reason")
    resource_type = resource.Body("resource_type")
    #: Names or ids in requests; in answers, objects with ``id`` and ``name``.
    resources = resource.Body("resources", type=list)
    #: In requests: a requirement that the resources satisfy.
    filter = resource.Body("filter")
    #: In requests: an aggregate of Nova with the resources.
    aggregate = resource.Body("aggregate")
    #: In changes: names or ids of resources to take out of it.
    remove_resources = resource.Body("remove_resources", type=list)
    start_date = resource.Body("start_date")
    #: None until an end is set.
    end_date = resource.Body("end_date")
    is_leaving_pool = resource.Body("leave_pool", type=bool)
    #: Reservations that have not started, and get other resources.
    moves = resource.Body("moves", type=list)
    #: Resources kept by leases that have started.
    active = resource.Body("active", type=list)
    #: Resources kept by leases that have not started.
    unmovable = resource.Body("unmovable", type=list)
    user_id = resource.Body("user_id")
    created_at = resource.Body("created_at")


class Subscription(ResourceOf11):
    """A subscription to notices of leases."""

    base_path = "/subscriptions"
    resource_key = "subscription"
    resources_key = "subscriptions"
    _request_only = ("rotate_secret", "resend", "code")
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True

    #: ``mail`` or ``webhook``.
    kind = resource.Body("kind")
    #: ``lease``, ``own``, ``project`` or, for operators, ``site``.
    scope = resource.Body("scope")
    lease_id = resource.Body("lease_id")
    #: The notices, such as ``lease.ends_soon``.
    events = resource.Body("events", type=list)
    url = resource.Body("url")
    address = resource.Body("address")
    #: Minutes before a start or an end.
    lead_minutes = resource.Body("lead_minutes", type=list)
    time_zone = resource.Body("time_zone")
    language = resource.Body("language")
    resource_type = resource.Body("resource_type")
    below = resource.Body("below", type=int)
    waits_minutes = resource.Body("waits_minutes", type=int)
    is_enabled = resource.Body("enabled", type=bool)
    is_confirmed = resource.Body("confirmed", type=bool)
    is_default = resource.Body("default", type=bool)
    #: Why the last attempt failed; None if it succeeded.
    problem = resource.Body("problem")
    failing_since = resource.Body("failing_since")
    succeeded_at = resource.Body("succeeded_at")
    #: The key that signs requests of a webhook; only in the answer to the request that made it.
    secret = resource.Body("secret")
    #: In changes: whether to replace the secret, and whether to resend notices that were given up.
    rotate_secret = resource.Body("rotate_secret", type=bool)
    resend = resource.Body("resend", type=bool)
    #: In changes: the code that was mailed to the address.
    code = resource.Body("code")
    user_id = resource.Body("user_id")
    project_id = resource.Body("project_id")
    created_at = resource.Body("created_at")
    updated_at = resource.Body("updated_at")


class StoragePool(ResourceOf11):
    """A storage pool whose capacity can be reserved; extra capabilities are attributes."""

    base_path = "/storage-pools"
    resource_key = "storage_pool"
    resources_key = "storage_pools"
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True
    _allow_unknown_attrs_in_body = True

    #: In requests: the capacity that can be reserved.
    gibibytes = resource.Body("gibibytes", type=int)
    #: In answers: the capacity, as ``GIBIBYTES``.
    amounts = resource.Body("amounts", type=dict)
    backend_name = resource.Body("backend_name")
    pool_name = resource.Body("pool_name")
    is_reservable = resource.Body("reservable", type=bool)


class StoragePoolAllocation(ResourceOf11, Allocation):
    """Current and future reservations of a storage pool."""

    base_path = "/storage-pools/allocations"
    _query_mapping = NetworkAllocation._query_mapping


class StoragePoolProperty(ResourceOf11, ResourceProperty):
    """A property that requirements on storage pools can use."""

    base_path = "/storage-pools/properties"


class HistoryEntry(ResourceOf11):
    """An entry of a lease's history."""

    time = resource.Body("time")
    #: None for the whole lease.
    reservation_id = resource.Body("reservation_id")
    text = resource.Body("text")


class HeldResource(ResourceOf11):
    """A resource that a lease holds, such as a host or an address; ``name`` is its name."""

    reservation_id = resource.Body("reservation_id")
    resource_type = resource.Body("resource_type")
    resource_id = resource.Body("resource_id")
    #: The number of instances on a host.
    amount = resource.Body("amount", type=int)
    start_date = resource.Body("start_date")
    end_date = resource.Body("end_date")
