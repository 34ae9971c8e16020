"""Rules that hold for every file, and that no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent

LONGEST_FUNCTION = 50
LONGEST_MODULE = 400

LONGER_FUNCTIONS: Mapping[str, str] = {}
"""``path:name`` of functions that may be longer, each with its reason; tables of data only."""
LONGER_MODULES: Mapping[str, str] = {
    "src/blazar/api/schemas.py": "a table: the schemas of all that is sent and answered",
    "src/blazar/db/tables.py": "a table: the tables of the database",
}
"""Paths of modules that may be longer, each with its reason; tables of data only."""

PYPROJECTS = tuple(f"{each}pyproject.toml" for each in ("", "client/", "nova/", "plugin-testing/"))
"""Of each distribution."""

POSTPONED = re.compile(r"\b(TODO|FIXME|XXX)\b")
# Written so that this file does not match.
MACHINE_PATH = re.compile(r"(?:file://|(?<![\w.~*/-]))/(?:home|root|tmp|work|opt|Users)/[\w.]")
PACKAGE_INDEX = re.compile(
    r"pypi[.]org|pythonhosted[.]org|debian[.]org|ubuntu[.]com|npmjs[.]org|anaconda[.]org|index-[u]rl"
)

CORE = tuple(
    f"src/blazar/{each}"
    for each in (
        "api/",
        "app/",
        "booking/",
        "config.py",
        "db/",
        "domain/",
        "known_options.py",
        "manager/",
        "ports/manager.py",
        "ports/store.py",
        "reconcile/",
        "resource_types.py",
        "rpc/messages.py",
        "settings.py",
        "type_options.py",
    )
)
"""What works for every resource type, and so may name none."""
WITH_EXAMPLES: Mapping[str, str] = {
    "src/blazar/api/openapi.py": "texts for readers",
    "src/blazar/api/origins.py": "the HTTP header Host",
    "src/blazar/api/schemas.py": "examples of values",
}
"""Modules of the core whose texts may name resource types, each with its reason."""
OF_TYPES = tuple(f"src/blazar/db/{each}" for each in ("migrations/", "old_service/", "own/", "tables.py"))
"""The schema of all types, and the SQL of each."""
CONCRETE_TYPE = re.compile(
    r"(?i:(physical|virtual|flavor)[:.](host|instance|floatingip|volume|storage)|compute_?host)"
    r"|(?i:floating[ _]?ip|storage[_ ]node|network[_ ]segment|\bcinder\b)"
    r"|\bHosts?\b|\.hosts\b|\bimport hosts\b"
)

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LOGGER = re.compile(r"\b(?:_?logger|log)\s*\.", re.IGNORECASE)
"""What the text of a module that writes to a log matches."""
LOG_MESSAGE = re.compile(r"[^%:]+(: [a-z_]+=%[^ ]+( [a-z_]+=%[^ ]+)*)?")
"""A constant text, and then its values as ``key=value``, so that logs can be searched by either."""

IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
import blazar
names = [each.name for each in pkgutil.walk_packages(blazar.__path__, "blazar.")]
# Alembic runs env.py, it cannot be imported; wsgi.api reads a configuration.
for name in sorted(set(names) - {"blazar.db.migrations.env", "blazar.wsgi.api"}):
    importlib.import_module(name)
print(len(names), [name for name in sys.modules if name.partition(".")[0] == "eventlet"])
"""


@cache
def tracked_files() -> tuple[str, ...]:
    """Return the paths of all files that are, or are about to be, under version control."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return tuple(sorted(path for path in set(listing.split("\0")) if path and (ROOT / path).is_file()))


@cache
def texts() -> Mapping[str, str]:
    """Return the contents of all tracked text files."""
    contents = {path: (ROOT / path).read_bytes() for path in tracked_files()}
    return {path: content.decode() for path, content in contents.items() if b"\0" not in content}


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """The parts of a Python file that rules are about; far smaller than its syntax tree."""

    function_lines: tuple[tuple[str, int], ...]
    """The name of each function, and its length without its decorators and its docstring."""
    docstrings: tuple[tuple[int, str], ...]
    """Each docstring, with the line of what it documents."""
    log_calls: tuple[tuple[int, object], ...]
    """The line of each call that writes to a log, and its message, or None if that is not a constant."""


@cache
def modules() -> Mapping[str, Module]:
    """Return the parts of all Python files, also of those that are known by their first line."""
    return {
        path: read_module(text)
        for path, text in texts().items()
        if path.endswith(".py") or re.match(r"#!.*\bpython", text)
    }


def read_module(text: str) -> Module:
    """Return the parts of a Python file."""
    tree = ast.parse(text)
    found = list(statements(tree))
    documented = [each for each in (tree, *found) if isinstance(each, DOCUMENTED)]
    return Module(
        function_lines=tuple(
            (each.name, lines_of(each))
            for each in found
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        docstrings=tuple(
            (getattr(each, "lineno", 1), docstring)
            for each in documented
            if (docstring := ast.get_docstring(each)) is not None
        ),
        log_calls=tuple(calls_of_loggers(tree)) if LOGGER.search(text) else (),
    )


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements below a node; expressions have none, so they are not searched."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(node, name, None) or ():
            if isinstance(each, ast.stmt):
                yield each
            yield from statements(each)


def lines_matching(pattern: re.Pattern[str], folder: str = "") -> list[str]:
    """Return ``path:line: text`` of every match below a folder."""
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts().items()
        if path.startswith(folder)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the length of a function without its decorators and its docstring."""
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return length
    docstring = node.body[0]
    return length - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = [
        (f"{path}:{name}", length)
        for path, module in modules().items()
        for name, length in module.function_lines
    ]

    too_long = {name for name, length in lengths if length > LONGEST_FUNCTION}

    assert too_long == set(LONGER_FUNCTIONS)


def test_no_module_becomes_the_place_where_everything_happens() -> None:
    too_long = {path for path in modules() if len(texts()[path].splitlines()) > LONGEST_MODULE}

    assert too_long == set(LONGER_MODULES)


def test_log_messages_are_constant_and_name_their_values() -> None:
    messages = {
        f"{path}:{line}": message
        for path, module in modules().items()
        if path.startswith(("src/", "nova/src/"))
        for line, message in module.log_calls
    }

    odd = [
        where
        for where, message in messages.items()
        if message is None or not LOG_MESSAGE.fullmatch(str(message))
    ]
    assert odd == []
    assert len(messages) > 50


def calls_of_loggers(tree: ast.AST) -> Iterator[tuple[int, object]]:
    """Yield the line and the message of calls that write to a log; None for one that is not a constant."""
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        if (
            isinstance(node, ast.Call)
            and isinstance(function, ast.Attribute)
            and function.attr in ("debug", "info", "warning", "error", "exception", "critical")
            and isinstance(function.value, ast.Name)
            and function.value.id.lower() in ("_logger", "log", "logger")
        ):
            message = node.args[0]
            yield node.lineno, message.value if isinstance(message, ast.Constant) else None


def is_core(path: str) -> bool:
    """Return whether a module works for every resource type."""
    return path.startswith(CORE) and not path.startswith(OF_TYPES)


def test_the_core_names_no_resource_type() -> None:
    matching = [line for folder in CORE for line in lines_matching(CONCRETE_TYPE, folder)]
    named = [line for line in matching if is_core(line)]

    assert [line for line in named if line.partition(":")[0] not in WITH_EXAMPLES] == []
    assert {line.partition(":")[0] for line in named} == set(WITH_EXAMPLES)
    assert [path for path in modules() if is_core(path) and "host" in Path(path).stem] == []
    assert lines_matching(CONCRETE_TYPE, "src/blazar/plugins/hosts/")


def test_the_product_has_no_notes_to_do_something_later() -> None:
    assert lines_matching(POSTPONED, "src/") == []
    assert lines_matching(POSTPONED, "client/src/") == []
    assert lines_matching(POSTPONED, "nova/src/") == []
    assert lines_matching(POSTPONED, "plugin-testing/src/") == []


def test_no_file_names_a_path_that_only_one_machine_has() -> None:
    assert lines_matching(MACHINE_PATH) == []


def test_no_file_names_a_package_index() -> None:
    assert lines_matching(PACKAGE_INDEX) == []


def test_every_dependency_is_locked_at_one_exact_version() -> None:
    locked = [line for line in texts()["constraints.txt"].splitlines() if not line.startswith("#")]
    names = {normal(line.partition("==")[0]) for line in locked}

    declared = {
        normal(requirement)
        for path in PYPROJECTS
        for requirement in requirements(tomllib.loads(texts()[path]))
    }

    assert [line for line in locked if not re.fullmatch(r"[\w.-]+==[\w.!+]+", line)] == []
    assert declared - names == {"blazar"}, "everything but the service itself, which the test tools need"
    assert len(names) == len(locked)


def test_the_locked_versions_have_the_header_that_make_lock_writes() -> None:
    header = re.search(r"echo '(#.*)'", texts()["Makefile"])

    assert header is not None
    assert texts()["constraints.txt"].startswith(f"{header[1]}\n")


def requirements(pyproject: Mapping[str, object]) -> Iterator[str]:
    """Yield everything that a distribution asks for: to build, to run, and to test."""
    build, project = pyproject["build-system"], pyproject["project"]
    assert isinstance(build, dict)
    assert isinstance(project, dict)
    yield from build["requires"]
    yield from project["dependencies"]
    for extra in project.get("optional-dependencies", {}).values():
        yield from extra


def normal(requirement: str) -> str:
    """Return the name in a requirement, as package indexes compare names."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def test_no_module_of_the_service_imports_eventlet() -> None:
    run = subprocess.run([sys.executable, "-c", IMPORT_EVERYTHING], capture_output=True, text=True)

    assert run.returncode == 0, run.stderr
    count, _, imported = run.stdout.strip().partition(" ")
    assert int(count) > 50
    assert imported == "[]"
