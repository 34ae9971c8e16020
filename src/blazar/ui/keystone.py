"""Sign-in with Keystone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3

from blazar.ui.errors import SignInRefused, SignInUnavailable

if TYPE_CHECKING:
    from keystoneauth1.identity.v3.base import BaseAuth

_SECONDS: Final = 5
_WRONG: Final = "The name, the password, the domain or the application credential is wrong."
_ENDED: Final = "The session has ended, or the project is not available to you."
_AWAY: Final = "Keystone does not answer. Try again later."
_NO_PROJECT: Final = "You have a role in no project, so there is nothing to show."


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token for one project."""

    value: str
    expires_at: str
    """ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project in which a user has a role."""

    id: str
    name: str


class Keystone:
    """The public API of Keystone, called with the credentials of users."""

    def __init__(self, url: str, *, verify: bool | str = True) -> None:
        """Create the client.

        Args:
            url: The address, with or without ``/v3``.
            verify: Whether certificates are checked, or the path of the authorities that sign them.
        """
        trimmed = url.rstrip("/")
        self.url = trimmed if trimmed.endswith("/v3") else f"{trimmed}/v3"
        self._session = session.Session(verify=verify, timeout=_SECONDS)

    def sign_in(self, user: str, password: str, domain: str, project_id: str | None) -> Token:
        """Return a token of a user for a project, or for the first of all.

        Raises:
            SignInRefused: The credentials are wrong, or the user has no role in the project, or in any.
            SignInUnavailable: Keystone does not answer.
        """
        auth = v3.Password(self.url, username=user, password=password, user_domain_name=domain, unscoped=True)
        return self.scope(self._token(auth, _WRONG).value, project_id)

    def sign_in_with_credential(self, credential_id: str, secret: str) -> Token:
        """Return a token of an application credential, for its project. Raises like :meth:`sign_in`."""
        auth = v3.ApplicationCredential(
            self.url, application_credential_id=credential_id, application_credential_secret=secret
        )
        return self._token(auth, _WRONG)

    def scope(self, token: str, project_id: str | None) -> Token:
        """Return another token of the same user for a project, or for the first of all.

        Raises:
            SignInRefused: The token is not valid, or the user has no role in the project, or in any.
            SignInUnavailable: Keystone does not answer.
        """
        if project_id is None:
            projects = self.projects(token)
            if not projects:
                raise SignInRefused(_NO_PROJECT, status=403)
            project_id = projects[0].id
        return self._token(v3.Token(self.url, token, project_id=project_id), _ENDED)

    def projects(self, token: str) -> tuple[Project, ...]:
        """Return the projects for which a user of a token can get one, by name.

        Raises:
            SignInRefused: The token is not valid.
            SignInUnavailable: Keystone does not answer.
        """
        with _translated(_ENDED):
            answer = self._session.get(
                f"{self.url}/auth/projects", headers={"X-Auth-Token": token}, authenticated=False
            )
            found = [Project(id=each["id"], name=each["name"]) for each in answer.json()["projects"]]
        return tuple(sorted(found, key=lambda each: each.name))

    def revoke(self, token: str) -> None:
        """End the validity of a token. Raises like :meth:`projects`."""
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        with _translated(_ENDED):
            self._session.delete(f"{self.url}/auth/tokens", headers=headers, authenticated=False)

    def _token(self, auth: BaseAuth, refusal: str) -> Token:
        get_access: Callable[[Any], Any] = auth.get_access
        with _translated(refusal):
            access = get_access(self._session)
            return Token(value=access.auth_token, expires_at=access.expires.isoformat())


@contextmanager
def _translated(refusal: str) -> Iterator[None]:
    try:
        yield
    except (exceptions.Unauthorized, exceptions.Forbidden, exceptions.NotFound) as error:
        raise SignInRefused(refusal, status=401) from error
    except exceptions.HTTPClientError as error:
        raise SignInRefused(refusal, status=error.http_status or 400) from error
    except (exceptions.ClientException, ValueError, KeyError) as error:
        raise SignInUnavailable(_AWAY) from error
