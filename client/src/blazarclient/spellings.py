"""Spellings of a command of ``blazar``: ``lease-create`` and ``lease create``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cliff import command, commandmanager


def of(name: str) -> Sequence[str]:
    """Return the spellings of the command *name*, first with hyphens."""
    return tuple(dict.fromkeys((name, name.replace("-", " "))))


class Commands(commandmanager.CommandManager):
    """Command manager that finds commands, registered with hyphens, in either spelling."""

    def find_command(self, argv: Sequence[str]) -> tuple[type[command.Command], str, list[str]]:
        """Return the command at the start of *argv*, its name as typed, and the other words.

        Raises:
            ValueError: The command is unknown.
        """
        for count in _counts(argv):
            registered = "-".join(argv[:count])
            if registered in self.commands:
                return self.commands[registered].load(), " ".join(argv[:count]), list(argv[count:])
        found: tuple[type[command.Command], str, list[str]] = super().find_command(list(argv))
        return found


def _counts(argv: Sequence[str]) -> Iterator[int]:
    """Yield the possible numbers of words in the name of the command, in descending order."""
    words = next((index for index, word in enumerate(argv) if word.startswith("-")), len(argv))
    yield from range(words, 1, -1)
