"""Bases of the resources for openstacksdk: bodies of requests, filters of lists, errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal

from openstack import exceptions, resource

from blazarclient.base import Record

PAGES = resource.QueryParameters()
"""Parameters of a list that API 1.1 sends in pages: ``limit`` and ``marker``."""
_PAGING = frozenset(("limit", "marker"))


class BaseResource(resource.Resource):
    """Base of the resources; requests have no key around the object, but responses do."""

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)
    commit_method: Literal["PUT", "PATCH"] = "PUT"
    _request_only: tuple[str, ...] = ()
    """Keys of requests that are in no response."""

    def create(self, session: Any, prepend_key: bool = False, *args: Any, **kwargs: Any) -> Any:
        """Create the resource and return it."""
        return super().create(session, prepend_key, *args, **kwargs)

    def commit(self, session: Any, prepend_key: bool = False, *args: Any, **kwargs: Any) -> Any:
        """Update the resource and return it."""
        return super().commit(session, prepend_key, *args, **kwargs)

    def _translate_response(
        self, response: Any, has_body: bool | None = None, error_message: str | None = None, **kwargs: Any
    ) -> None:
        """Read the attributes from a response, or raise its error with the message of the service."""
        if response.status_code >= 400 and error_message is None:
            error_message = reason(response)
        super()._translate_response(response, has_body, error_message, **kwargs)
        if not self._request_only:
            return
        # openstacksdk sends a key only if its value differs from the one that the object has.
        for key in self._request_only:
            self._body.attributes.pop(key, None)
        self._body.clean(self._request_only)
        dict.update(self, self.to_dict())

    @classmethod
    def list(  # type: ignore[override]
        cls,
        session: Any,
        paginated: bool = True,
        base_path: str | None = None,
        allow_unknown_params: bool = False,
        *,
        microversion: str | None = None,
        max_items: int | None = None,
        **query: Any,
    ) -> Iterator[Any]:
        """Yield the resources that match *query*; see :meth:`openstack.resource.Resource.list`.

        openstacksdk alone would ignore all keys in *query* that are no declared attributes.

        Raises:
            InvalidResourceQuery: The resource has no such attribute, or its list has no pages.
        """
        options = {"headers": query.pop("headers")} if "headers" in query else {}
        known, extra = cls._split(query, allow_unknown_params)
        if microversion is None and any(known.get(each) is not None for each in _PAGING):
            # API 1.0 ignores these parameters, so all pages would be the same.
            microversion = "1.1"
        found: Iterator[Any] = super().list(
            session, paginated, base_path, allow_unknown_params, microversion=microversion, **options, **known
        )
        if extra:
            found = (each for each in found if all(each.get(key) == extra[key] for key in extra))
        return itertools.islice(found, max_items) if max_items else found

    @classmethod
    def _split(cls, query: Record, is_lenient: bool) -> tuple[Record, Record]:
        """Return *query* by declared attributes and parameters, and by extra capabilities."""
        attributes = cls._body_mapping()
        named = {attributes.get(key, key): value for key, value in query.items()}
        declared = {*attributes.values(), *cls._query_mapping._mapping}
        extra = {key: value for key, value in named.items() if key not in declared}
        refused = extra.keys() & _PAGING if cls._allow_unknown_attrs_in_body else extra.keys()
        if refused and not is_lenient:
            raise exceptions.InvalidResourceQuery(
                message=f"{cls.__name__} cannot be listed by {', '.join(sorted(refused))}; "
                f"known keys: {', '.join(sorted(declared))}",
                extra_data=set(refused),
            )
        return (
            {key: value for key, value in named.items() if key in declared},
            {key: value for key, value in extra.items() if key not in refused},
        )


class ResourceOf11(BaseResource):
    """Base of the resources that exist from API version 1.1 on."""

    @classmethod
    def _get_microversion(cls, *_args: Any, **_kwargs: Any) -> str:
        """Return the version to request; the parameters depend on the release of openstacksdk."""
        return "1.1"


def reason(response: Any) -> str | None:
    """Return the message of an error response, or None if the response is not one of the service."""
    try:
        body = response.json()
    except ValueError:
        return None
    return body.get("error_message") if isinstance(body, dict) else None
