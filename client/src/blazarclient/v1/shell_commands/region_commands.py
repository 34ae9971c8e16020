"""Base of the commands that can ask several regions."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from blazarclient import command, exception, regions
from blazarclient.base import Record
from blazarclient.i18n import _


class RegionsCommand(command.ListCommand):
    """Base of commands that list answers of one region or of several."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with ``--region``."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--region",
            metavar="<region>,...",
            help=_("ask these regions, or all, at the same time; default: the region of --os-region-name"),
        )
        return parser

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the default columns, with the region if several can be asked."""
        return self.list_columns if parsed_args.region is None else ("region", *self.list_columns)

    def answers(self, parsed_args: argparse.Namespace, question: regions.Question) -> Mapping[str, Record]:
        """Return the answers by region; without ``--region``, the one answer under an empty name.

        Raises:
            CommandError: No region answered.
        """
        client = self.get_client()
        if parsed_args.region is None:
            return {"": question(client)}
        names = regions.named(client, parsed_args.region)
        answers = regions.ask(client, names, question)
        for name, reason in answers.failed.items():
            self.print_to_stderr(_("Region %(name)s: %(reason)s") % {"name": name, "reason": reason})
        if not answers.found:
            raise exception.CommandError(_("None of the regions answered: %s") % ", ".join(names), code=503)
        return answers.found
