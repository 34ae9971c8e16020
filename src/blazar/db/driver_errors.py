"""The error of the database driver inside the errors of SQLAlchemy and oslo.db."""

from __future__ import annotations


def driver_error_of(error: BaseException) -> BaseException:
    """Return the driver's error, whose message has neither the statement nor its values; else the error."""
    found = getattr(error, "inner_exception", None) or error
    cause: BaseException = getattr(found, "orig", None) or found
    return cause


def number_of(error: BaseException) -> object:
    """Return the number of an error of MariaDB or MySQL; None or a text for other errors."""
    arguments = driver_error_of(error).args
    return arguments[0] if arguments else None
