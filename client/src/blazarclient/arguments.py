"""Which words of a command line are for ``blazar`` itself, and which for the command.

Options of ``blazar`` may stand anywhere. Before the command they may be abbreviated; behind it only whole
names count, and a command's own option goes before one of ``blazar`` with the same name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import Any

from cliff import _argparse

Options = Callable[[Sequence[str]], Collection[str]]


class GlobalParser(_argparse.ArgumentParser):
    """Parses the global options, and leaves the command and all that is its own."""

    own_options: Options = staticmethod(lambda words: ())
    """Return the options of the command that words begin with."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the values of the global options, and the other words, in order.

        An unknown option before the command ends the program with exit code 2.
        """
        words = list(args or ())
        start = self._start_of_command(words)
        moved, rest = self._split(words[start:])
        options, unknown = super().parse_known_args([*words[:start], *moved], namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, rest

    def _start_of_command(self, words: Sequence[str]) -> int:
        """Return the index of the first word that is neither an option nor the value of one."""
        position = 0
        while position < len(words) and words[position].startswith("-"):
            name, separator, _value = words[position].partition("=")
            action = self._option(name)
            position += 1 if action is None or separator or action.nargs == 0 else 2
        return min(position, len(words))

    def _option(self, name: str) -> argparse.Action | None:
        """Return the option of that name, or the only one whose name begins like that."""
        if name in self._option_string_actions:
            return self._option_string_actions[name]
        found = {
            id(action): action
            for option, action in self._option_string_actions.items()
            if name.startswith("--") and option.startswith(name)
        }
        return next(iter(found.values())) if len(found) == 1 else None

    def _split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return what is global in a command and the words behind it, and the rest."""
        end = words.index("--") if "--" in words else len(words)
        own = set(self.own_options(words[:end])) | {"-h", "--help"}
        moved: list[str] = []
        rest: list[str] = []
        position = 0
        while position < end:
            name, separator, _value = words[position].partition("=")
            action = None if name in own else self._option_string_actions.get(name)
            count = 1 if action is None or separator or action.nargs == 0 else 2
            (rest if action is None else moved).extend(words[position : min(position + count, end)])
            position += count
        return moved, [*rest, *words[end:]]
