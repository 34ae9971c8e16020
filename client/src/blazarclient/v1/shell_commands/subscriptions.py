"""Commands for subscriptions to notices."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from blazarclient import command, durations, exception
from blazarclient.base import Record, Records
from blazarclient.i18n import _

_MINUTE = timedelta(minutes=1)


class ListSubscriptions(command.ListCommand):
    """List the subscriptions of the project."""

    resource = "subscription"
    plural = _("subscriptions")
    list_columns = ("id", "kind", "scope", "lease_id", "enabled", "confirmed", "problem")
    sort_by = "created_at"


class ShowSubscription(command.ShowCommand):
    """Show a subscription, and why nothing can be delivered."""

    resource = "subscription"


class _Settings(command.ReservationCommand):
    """Base of the commands that say what is sent, when and where to."""

    resource = "subscription"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser, with the options that can be changed later."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("--url", metavar="<url>", help=_("URL to which a webhook sends requests"))
        parser.add_argument(
            "--address",
            metavar="<address>",
            help=_("address to which mail is sent; default: your address in Keystone"),
        )
        parser.add_argument(
            "--event",
            dest="events",
            action="append",
            metavar="<event>",
            help=_("a notice that you want, such as lease.ends_soon (repeatable); default: all"),
        )
        parser.add_argument(
            "--lead-time",
            dest="lead_times",
            action="append",
            metavar="<duration>",
            help=_("time before a start or an end, such as 1d or 90m (repeatable); default: the site's"),
        )
        parser.add_argument(
            "--time-zone", metavar="<zone>", help=_("time zone of dates in mail, such as Europe/Berlin")
        )
        parser.add_argument("--language", metavar="<language>", help=_("language of mail, such as en"))
        parser.add_argument(
            "--resource-type", metavar="<type>", help=_("for operators: the type that --below counts")
        )
        parser.add_argument(
            "--below",
            type=int,
            metavar="<number>",
            help=_("for operators: number of free resources below which resources.low is sent"),
        )
        parser.add_argument(
            "--waits",
            metavar="<duration>",
            help=_("for operators: time for which a lease must wait before lease.waits is sent"),
        )
        return parser

    def values(self, parsed_args: argparse.Namespace) -> Record:
        """Return the given options in the form of the API."""
        found: Record = {
            "url": parsed_args.url,
            "address": parsed_args.address,
            "events": parsed_args.events,
            "time_zone": parsed_args.time_zone,
            "language": parsed_args.language,
            "resource_type": parsed_args.resource_type,
            "below": parsed_args.below,
        }
        if parsed_args.lead_times:
            found["lead_minutes"] = [_minutes(each) for each in parsed_args.lead_times]
        if parsed_args.waits:
            found["waits_minutes"] = _minutes(parsed_args.waits)
        return {key: value for key, value in found.items() if value is not None}


def _minutes(text: str) -> int:
    return durations.rounded_up(durations.parse(text)) // _MINUTE


class CreateSubscription(_Settings, command.CreateCommand):
    """Subscribe to notices of leases, by mail or with a webhook."""

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the kind and the options that cannot be changed later to *parser*."""
        parser.add_argument("kind", metavar="KIND", choices=("mail", "webhook"), help=_("mail or webhook"))
        parser.add_argument("--lease", metavar="<lease>", help=_("only notices of this lease: its id"))
        parser.add_argument(
            "--scope",
            choices=("own", "project", "site"),
            help=_("leases that you created, of the project (default), or, for operators, of all projects"),
        )

    def take_action(self, parsed_args: argparse.Namespace) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values of the new subscription."""
        made = self.manager().create(
            parsed_args.kind,
            lease_id=parsed_args.lease,
            scope=parsed_args.scope,
            **self.values(parsed_args),
        )
        if "secret" in made:
            self.print_to_stderr(_("Keep the secret; it is not shown again."))
        if not made["confirmed"]:
            self.print_to_stderr(_("A code is mailed to the address; confirm it with subscription-confirm."))
        return self.created(made, parsed_args)


class UpdateSubscription(_Settings, command.UpdateCommand):
    """Change, enable or disable a subscription."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--enable", dest="enabled", action="store_true", default=None)
        state.add_argument("--disable", dest="enabled", action="store_false", default=None)
        parser.add_argument(
            "--resend", action="store_true", help=_("retry the notices whose delivery was given up")
        )
        parser.add_argument(
            "--rotate-secret",
            action="store_true",
            help=_("replace the secret of a webhook; both are valid for a day. It is printed once"),
        )
        return parser

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Change the subscription and return it."""
        values = self.values(parsed_args)
        if parsed_args.enabled is not None:
            values["enabled"] = parsed_args.enabled
        for name in ("resend", "rotate_secret"):
            if getattr(parsed_args, name):
                values[name] = True
        if not values:
            raise exception.CommandError(_("No change is given"))
        changed: Record = self.manager().update(self.find(parsed_args.name_or_id), values)
        if "secret" in changed:
            self.print_to_stderr(_("The new secret is %s") % changed["secret"])
        return changed


class ConfirmSubscription(command.UpdateCommand):
    """Confirm the address of a subscription with the code that was mailed to it."""

    resource = "subscription"

    def add_positional(self, parser: argparse.ArgumentParser) -> None:
        """Add the subscription and the code to *parser*."""
        super().add_positional(parser)
        parser.add_argument("code", metavar="CODE", help=_("the code in the mail"))

    def change(self, parsed_args: argparse.Namespace) -> Record:
        """Confirm the address and return the subscription."""
        found: Record = self.manager().confirm(self.find(parsed_args.name_or_id), parsed_args.code)
        return found


class TestSubscription(command.ReservationCommand):
    """Send a test message to the subscriber."""

    resource = "subscription"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        command.add_name_or_id(parser, self.resource)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Ask for the message."""
        self.manager().test(self.find(parsed_args.name_or_id))
        self.print_to_stdout(_("Sending a test message; see subscription-show for problems"))


class ListDeliveries(command.ListCommand):
    """List the notices of a subscription that are not delivered yet or were given up."""

    resource = "subscription"
    plural = _("undelivered notices")
    list_columns = ("event", "lease_id", "status", "attempts", "problem", "created_at")
    sort_by = "created_at"

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        command.add_name_or_id(parser, self.resource)
        return parser

    def fetch(self, parsed_args: argparse.Namespace) -> Records:
        """Return the deliveries."""
        found: Records = self.manager().deliveries(self.find(parsed_args.name_or_id))
        return found


class DeleteSubscription(command.DeleteCommand):
    """Delete subscriptions."""

    resource = "subscription"
