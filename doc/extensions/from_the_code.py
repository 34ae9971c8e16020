"""Parts of pages that are made from the code, so that they cannot say anything else.

Two directives: ``{openapi}`` renders a description of an API in OpenAPI 3, ``{command-help}`` what a command
says of itself when it is asked for help.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_VERBS = ("get", "post", "put", "patch", "delete")
_HELP_SECONDS = 60
_FORK = multiprocessing.get_context("fork")
_COMMANDS = "sub-commands:"
_CHOICES = re.compile(r"^ +\{([a-z_,-]+)\}", re.MULTILINE)

Json = Mapping[str, Any]


class OpenApi(SphinxDirective):
    """Each path of a document, with what it takes, what it answers, and who may ask."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the rendered document; the argument is its path, relative to the documentation's root."""
        path = Path(self.env.srcdir) / self.arguments[0]
        self.env.note_dependency(str(path))
        document = json.loads(path.read_text())
        lines = [*_operations(document), *_schemas(document)]
        return self.parse_text_to_nodes(StringList(lines, source=str(path)), allow_section_headings=True)


class CommandHelp(SphinxDirective):
    """Insert the help text of a program or one of its sub-commands."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"commands": directives.flag, "each": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the help; with ``:commands:``, only the list of sub-commands; with ``:each:``, theirs."""
        command = self.arguments[0]
        text = self._help(command)
        if "each" in self.options:
            found = _CHOICES.search(text)
            if found is None:
                raise self.error(f"{command} --help has no sub-commands")
            # Once for a command with two names.
            helps = dict.fromkeys(self._help(f"{command} {each}") for each in found[1].split(","))
            return [nodes.literal_block(each, each, language="text") for each in helps]
        if "commands" in self.options:
            _, has_list, text = text.partition(f"\n{_COMMANDS}\n")
            if not has_list:
                raise self.error(f"{command} --help has no line {_COMMANDS!r}")
        return [nodes.literal_block(text, text, language="text")]

    def _help(self, command: str) -> str:
        """Return what a command prints if it is asked for help."""
        name, *words = command.split()
        helper = _helper_of(name, os.getpid())
        helper.send(words)
        code, text = helper.recv() if helper.poll(_HELP_SECONDS) else (None, "no answer")
        if code != 0:
            raise self.error(f"{command} --help: {code}: {text}")
        return text.strip()


@functools.cache
def _helper_of(name: str, parent: int) -> Connection:
    """Return the connection to a process of *parent* that has imported a program and runs it for its help.

    The imports take a second, so they are shared by all sub-commands of a program.
    """
    ours, theirs = _FORK.Pipe()
    _FORK.Process(target=_run_for_help, args=(theirs, name), daemon=True).start()
    theirs.close()
    return ours


def _run_for_help(requests: Connection, name: str) -> None:
    """Send the exit code and the output of each requested sub-command, each run in a process of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    (program,) = entry_points(group="console_scripts", name=name)
    main = program.load()
    while True:
        words = requests.recv()
        if not os.fork():
            requests.send(_said(main, [name, *words, "--help"]))
            os._exit(0)
        _, status = os.wait()
        if status:
            requests.send((status, "the process was killed"))


def _said(main: Callable[[], object], arguments: list[str]) -> tuple[object, str]:
    """Return the exit code and the output of a program."""
    sys.argv = arguments
    os.environ["COLUMNS"] = "90"
    said = io.StringIO()
    code: object
    try:
        with contextlib.redirect_stdout(said):
            code = main()
    except SystemExit as end:
        code = end.code
    return code or 0, said.getvalue()


def _operations(document: Json) -> Iterator[str]:
    for path, item in document["paths"].items():
        yield from ("", f"## `{path}`", "")
        for verb in _VERBS:
            if verb in item:
                yield from _operation(f"{verb.upper()} {path}", item[verb])


def _operation(title: str, operation: Json) -> Iterator[str]:
    yield from (f"**`{title}`**", f": {operation['summary']} {operation.get('description', '')}".rstrip(), "")
    for each in operation.get("parameters", ()):
        if each["in"] == "query":
            text = f" {each['description']}" if "description" in each else ""
            yield f"  - `?{each['name']}=`{text}"
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        yield f"  - takes {_type(schema)}"
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get("application/json", {}).get("schema")
        if content is not None:
            yield f"  - {status}: {_type(content)}"
    others = [each for each, answer in operation["responses"].items() if "$ref" in answer]
    yield from (f"  - else {', '.join(others)}", "")


def _schemas(document: Json) -> Iterator[str]:
    yield from ("", "## Schemas", "")
    for name, schema in document["components"]["schemas"].items():
        yield from (f"({_anchor(name)})=", f"### {name}", "", schema.get("description", ""), "")
        required = schema.get("required", ())
        rows = schema.get("properties", {})
        if not rows:
            yield from (_type(schema), "")
            continue
        yield from ("| key | type | |", "|---|---|---|")
        for key, each in rows.items():
            text = " ".join(str(each.get("description", "")).split()).replace("|", "\\|")
            needed = " (required)" if key in required else ""
            yield f"| `{key}` | {_type(each)} | {text}{needed} |"
        yield ""


def _anchor(name: str) -> str:
    return f"schema-{name.lower()}"


def _type(schema: Json) -> str:
    """Return what fits a schema, in words, with links to named ones."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return (" and " if key == "allOf" else " or ").join(_type(each) for each in schema[key])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"array of {_type(schema.get('items', {}))}"
    if kind == "object" and schema.get("properties"):
        inner = ", ".join(f"`{key}`: {_type(each)}" for key, each in schema["properties"].items())
        return f"object with {inner}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("openapi", OpenApi)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
