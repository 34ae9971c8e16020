"""Errors of the console's own endpoints; their text is for the person at the browser."""

from __future__ import annotations


class ConsoleError(Exception):
    """A request that the console's endpoints do not fulfil."""

    status = 400

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status or self.status


class SignInRefused(ConsoleError):
    """The credentials are not accepted; the user must enter others."""

    status = 401


class SignInUnavailable(ConsoleError):
    """The credentials could not be checked; the same can succeed later."""

    status = 503
