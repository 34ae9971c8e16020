"""Choice of hosts: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import unknown_keys
from blazar.domain.wording import first_few
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.plugins.hosts.host import HOST_FACTS
from blazar.plugins.hosts.spec import HostSpec
from blazar.plugins.whole_choice import WholeChoice


def choose_hosts(wish: Wish[HostSpec], availability: Availability) -> Holdings:
    """Return the hosts to hold, as many as are available up to the maximum; held ones come first.

    In order of preference: hosts that the reservation holds, those with servers first; hosts with few scarce
    properties that are not requested; small hosts; hosts that are free longest before and after the window;
    the lowest number. So scarce and large hosts stay free for requests that need them, and the end of one
    lease rarely delays the next.

    Raises:
        NotEnoughHosts: Fewer than the minimum fit and are free, or a host of an active reservation no longer
            fits.
        CannotChange: An active reservation would lose a host that has servers.
        InvalidRequirement: The spec names a property that no host has, or that the caller may not see.
    """
    requirement = wish.spec.requirement
    _check_keys(wish, availability)
    choice = WholeChoice.of(wish, availability, requirement)
    kept = _choose_kept(choice)
    available = choice.count(kept, wish.spec.maximum)
    if available < wish.spec.minimum:
        raise NotEnoughHosts(
            f"Not enough hosts available: {wish.spec.minimum} asked for (min), "
            f"{available} fit and are free from {wish.window.start:%Y-%m-%d %H:%M} "
            f"to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            min=wish.spec.minimum,
            available=available,
        )
    return choice.fill(kept, wish.spec.maximum, requirement.keys)


def _choose_kept(choice: WholeChoice) -> list[ResourceId]:
    """Return the held hosts to keep, up to the maximum: those in use first, failed ones last.

    Raises:
        NotEnoughHosts: The reservation is active, and one of its hosts is no longer suitable.
        CannotChange: More hosts than the maximum have servers.
    """
    wish, held = choice.wish, choice.held()
    if choice.loses_any(held):
        raise NotEnoughHosts(
            "Not enough hosts available: a host of the active reservation no longer fits, or is reserved"
            " for another lease in the new period",
            in_use=len(wish.held),
            would_remain=len(held),
        )
    in_use = [str(each.facts["hypervisor_hostname"]) for each in held if choice.is_in_use(each)]
    if len(in_use) > wish.spec.maximum:
        raise CannotChange(
            f"max: {wish.spec.maximum} is less than the {len(in_use)} hosts that have servers on them:"
            f" {first_few(sorted(in_use))}"
        )
    return [each.id for each in held[: wish.spec.maximum]]


def _check_keys(wish: Wish[HostSpec], availability: Availability) -> None:
    known = availability.known_facts() - wish.hidden | HOST_FACTS
    unknown = unknown_keys(wish.spec.requirement, known)
    if unknown:
        raise InvalidRequirement(
            "hypervisor_properties, resource_properties", f"no host has a property named {', '.join(unknown)}"
        )
