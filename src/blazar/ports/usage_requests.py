"""Port: the request to a manager about usage; a part of :class:`blazar.ports.manager.Manager`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from blazar.ports.manager import Caller, JsonObject


class UsageRequests(Protocol):
    """The use cases of usage."""

    def get_usage(
        self, caller: Caller, query: JsonObject, project_id: str | None, is_operator: bool
    ) -> JsonObject:
        """Return how reserved resources were used in a period, in groups.

        Args:
            caller: The caller.
            query: ``by``, and optionally ``property``, ``from``, ``to``, ``step`` and ``resource_type``.
            project_id: The only project whose usage is reported; None for all.
            is_operator: Whether the caller may group by properties that lessees do not see.

        Returns:
            ``by``, ``property``, ``from``, ``to``, ``complete_since``, ``steps`` and ``groups``, each with
            ``value`` and ``amounts``.

        Raises:
            BadRequest: A part of the query is missing or invalid.
        """
