"""Parser that separates the global options of ``blazar`` from the arguments of the command.

Global options may be anywhere. After the command, an option of the command takes precedence over a global
option with the same name. Abbreviations are refused, because a new option could make them ambiguous.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Sequence, Set
from typing import Any

from cliff import _argparse

Options = Callable[[Sequence[str]], Collection[str]]


class GlobalParser(_argparse.ArgumentParser):
    """Parser of the global options, which leaves the command and its arguments.

    Attributes:
        given: Names of the options that are on the command line, as they are in the namespace.
    """

    given: Set[str] = frozenset()

    own_options: Options = staticmethod(lambda words: ())
    """Returns the options of the command at the start of the given words."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the values of the global options, and the other words in order.

        An unknown option before the command ends the program with exit code 2.
        """
        words = list(args or ())
        start = self._start_of_command(words)
        moved, rest = self._split(words[start:])
        own = [*words[:start], *moved]
        options, unknown = super().parse_known_args(own, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        # argparse sets no default for a name that the namespace has.
        unset = argparse.Namespace(**{each.dest: None for each in self._actions})
        found, _unknown = super().parse_known_args(own, unset)
        self.given = {name for name, value in vars(found).items() if value is not None}
        return options, rest

    def _start_of_command(self, words: Sequence[str]) -> int:
        """Return the index of the first word that is neither an option nor the value of one."""
        position = 0
        while position < len(words) and words[position].startswith("-"):
            name, separator, _value = words[position].partition("=")
            action = self._option_string_actions.get(name)
            position += 1 if action is None or separator or action.nargs == 0 else 2
        return min(position, len(words))

    def _split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the global options among *words*, which start with the command, and the other words."""
        end = words.index("--") if "--" in words else len(words)
        own = set(self.own_options(words[:end])) | {"-h", "--help"}
        moved: list[str] = []
        rest: list[str] = []
        position = 0
        while position < end:
            name, separator, _value = words[position].partition("=")
            action = None if name in own else self._option_string_actions.get(name)
            is_global = action is not None or self._is_cluster(name, own)
            count = 1 if action is None or separator or action.nargs == 0 else 2
            (moved if is_global else rest).extend(words[position : min(position + count, end)])
            position += count
        return moved, [*rest, *words[end:]]

    def _is_cluster(self, word: str, own: Collection[str]) -> bool:
        """Return whether *word* stands for several global options without a value, as ``-vv`` does."""
        if not re.fullmatch("-[A-Za-z]{2,}", word):
            return False
        options = [f"-{letter}" for letter in word[1:]]
        actions = [None if each in own else self._option_string_actions.get(each) for each in options]
        return all(each is not None and each.nargs == 0 for each in actions)
