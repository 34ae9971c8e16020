"""One-line error messages of programs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

import yaml
from keystoneauth1.exceptions import ClientException
from oslo_config import cfg
from oslo_db.exception import DBError
from oslo_log import log
from oslo_policy.policy import InvalidDefinitionError
from sqlalchemy.exc import SQLAlchemyError

from blazar.db.driver_errors import driver_error_of
from blazar.domain.errors import BlazarError
from blazar.manager.plugins import PluginError
from blazar.ports.old_service import CannotImport

_logger = logging.getLogger(__name__)
_LONGEST = 1000
"""Maximum number of characters of an error message."""
_DATABASE = (DBError, SQLAlchemyError)
_OPTIONAL = ("oslo_messaging.", "alembic.")
"""Libraries that not all programs import, and whose errors are expected as well."""
_EXPECTED = (
    *_DATABASE,
    BlazarError,
    CannotImport,
    ClientException,
    InvalidDefinitionError,
    OSError,
    PluginError,
    ValueError,
    cfg.Error,
    log.LogConfigError,
    yaml.YAMLError,
)
"""Exceptions that a configuration, or something it refers to, can cause."""


def run(program: str, act: Callable[[], int], *, failure: int = 1) -> int:
    """Return the result of *act*; if it raises an expected error, print one line and return *failure*.

    The line goes to stderr, regardless of where logs go. With ``debug``, the traceback is logged. It is not
    an error if the reader of stdout closes the pipe early, as head does.
    """
    try:
        try:
            return act()
        finally:
            # Also after --help, which raises SystemExit.
            _write_out()
    except BrokenPipeError:
        return 0
    except Exception as error:
        if not isinstance(error, _EXPECTED) and not _is_of_an_optional_library(error):
            raise
        _logger.debug("the program exits because of an error: name=%s", program, exc_info=True)
        print(f"{program}: {sentence(error)}", file=sys.stderr)
        return failure


def _write_out() -> None:
    """Flush stdout; discard the output if the reader has closed the pipe.

    Raises:
        OSError: The output cannot be written for another reason.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        # Otherwise, the interpreter flushes again at exit and reports the error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def _is_of_an_optional_library(error: Exception) -> bool:
    """Return whether an error comes from a library that not all programs import."""
    return any(each.__module__.startswith(_OPTIONAL) for each in type(error).__mro__)


def sentence(error: BaseException) -> str:
    """Return the message of an error in one line, without passwords."""
    if isinstance(error, _DATABASE):
        return f"[database] connection: {_one_line(_cause(error))}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else _one_line(error.strerror or error)
    return _one_line(error) or type(error).__name__


def _cause(error: BaseException) -> object:
    """Return the message of the database driver, without the SQL."""
    found = driver_error_of(error)
    arguments = found.args
    # Errors of PyMySQL have a number and a message.
    is_pair = len(arguments) == 2 and isinstance(arguments[0], int)
    return arguments[1] if is_pair else found


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:_LONGEST]
