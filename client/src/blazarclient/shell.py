"""The ``blazar`` command."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from cliff import app

from blazarclient import completion, sessions, spellings, utils, version
from blazarclient.arguments import GlobalParser
from blazarclient.i18n import _
from blazarclient.v1.shell_commands import (
    allocations,
    availability,
    calendar,
    feeds,
    floatingips,
    hosts,
    leases,
    maintenance,
    networks,
    offers,
    storage_pools,
    subscriptions,
    usage,
)

COMMANDS_V1: Mapping[str, type] = {
    "lease-list": leases.ListLeases,
    "lease-show": leases.ShowLease,
    "lease-create": leases.CreateLease,
    "lease-update": leases.UpdateLease,
    "lease-set": leases.SetLease,
    "lease-delete": leases.DeleteLease,
    "lease-resources": leases.ListLeaseResources,
    "lease-history": leases.ListLeaseHistory,
    "lease-replace": leases.ReplaceResources,
    "availability": availability.SearchAvailability,
    "calendar": calendar.ShowCalendar,
    "catalogue": calendar.ShowCatalogue,
    "usage": usage.ShowUsage,
    "subscription-list": subscriptions.ListSubscriptions,
    "subscription-show": subscriptions.ShowSubscription,
    "subscription-create": subscriptions.CreateSubscription,
    "subscription-update": subscriptions.UpdateSubscription,
    "subscription-confirm": subscriptions.ConfirmSubscription,
    "subscription-test": subscriptions.TestSubscription,
    "subscription-deliveries": subscriptions.ListDeliveries,
    "subscription-delete": subscriptions.DeleteSubscription,
    "offer-list": offers.ListOffers,
    "offer-show": offers.ShowOffer,
    "offer-create": offers.CreateOffer,
    "offer-delete": offers.DeleteOffer,
    "feed-list": feeds.ListFeeds,
    "feed-show": feeds.ShowFeed,
    "feed-create": feeds.CreateFeed,
    "feed-delete": feeds.DeleteFeed,
    "host-list": hosts.ListHosts,
    "host-show": hosts.ShowHost,
    "host-create": hosts.CreateHost,
    "host-update": hosts.UpdateHost,
    "host-set": hosts.SetHost,
    "host-unset": hosts.UnsetAttributesHost,
    "host-delete": hosts.DeleteHost,
    "host-property-list": hosts.ListHostProperties,
    "host-property-show": hosts.ShowHostProperty,
    "host-property-set": hosts.UpdateHostProperty,
    "host-capability-list": hosts.ListHostCapabilities,
    "host-capability-show": hosts.ShowHostCapability,
    "host-capability-set": hosts.UpdateHostCapability,
    "host-capability-update": hosts.UpdateHostCapability,
    "floatingip-list": floatingips.ListFloatingIPs,
    "floatingip-show": floatingips.ShowFloatingIP,
    "floatingip-create": floatingips.CreateFloatingIP,
    "floatingip-delete": floatingips.DeleteFloatingIP,
    "host-drain": maintenance.DrainHosts,
    "host-undrain": maintenance.UndrainHosts,
    "maintenance-list": maintenance.ListMaintenances,
    "maintenance-show": maintenance.ShowMaintenance,
    "maintenance-create": maintenance.CreateMaintenance,
    "maintenance-update": maintenance.UpdateMaintenance,
    "maintenance-end": maintenance.EndMaintenance,
    "maintenance-delete": maintenance.DeleteMaintenance,
    "network-list": networks.ListNetworks,
    "network-show": networks.ShowNetwork,
    "network-create": networks.CreateNetwork,
    "network-update": networks.UpdateNetwork,
    "network-unset": networks.UnsetNetwork,
    "network-delete": networks.DeleteNetwork,
    "network-property-list": networks.ListNetworkProperties,
    "network-property-show": networks.ShowNetworkProperty,
    "network-property-set": networks.UpdateNetworkProperty,
    "storage-pool-list": storage_pools.ListStoragePools,
    "storage-pool-show": storage_pools.ShowStoragePool,
    "storage-pool-create": storage_pools.CreateStoragePool,
    "storage-pool-update": storage_pools.UpdateStoragePool,
    "storage-pool-unset": storage_pools.UnsetStoragePool,
    "storage-pool-delete": storage_pools.DeleteStoragePool,
    "storage-pool-property-list": storage_pools.ListStoragePoolProperties,
    "storage-pool-property-show": storage_pools.ShowStoragePoolProperty,
    "storage-pool-property-set": storage_pools.UpdateStoragePoolProperty,
    "allocation-list": allocations.ListAllocations,
    "allocation-show": allocations.ShowAllocations,
}

COMMANDS: Mapping[str, Mapping[str, type]] = {"v1": COMMANDS_V1}

_WORDS = "bash-completion"
_LOG_EVERYTHING = 2
"""Verbosity, which is 1 by default, from which on all log messages are shown."""


class BlazarShell(app.App):
    """The ``blazar`` program: runs a command, or starts an interactive prompt.

    Attributes:
        client: The client, created on first use.
    """

    NAME = "blazar"
    LOG = logging.getLogger(NAME)

    def __init__(self) -> None:
        self._argv: list[str] | None = None
        self._was_interactive = False
        manager = spellings.Commands("blazar.cli")
        for name, each in COMMANDS_V1.items():
            manager.add_command(name, each)
        super().__init__(
            description=_(
                "Command line client of OpenStack's reservation service. "
                "Commands can also be written with spaces: blazar lease create."
            ),
            version=version.__version__,
            command_manager=manager,
            deferred_help=True,
        )
        manager.add_command("complete", completion.CompleteBothSpellings)

    def run(self, argv: Sequence[str]) -> int:
        """Run the command line *argv*, which lacks the program's name, and return the exit code."""
        self._argv = list(argv)
        try:
            self._config = sessions.Config()
            self.parser = self.build_option_parser(self.parser.description, version.__version__)
        except Exception as error:
            self.stderr.write(f"{error}\n")
            return 1
        code: int = super().run(list(argv))
        return 0 if self._was_interactive else code

    def interact(self) -> None:
        """Run the interactive prompt."""
        super().interact()
        self._was_interactive = True

    def build_option_parser(
        self, description: str | None, version: str | None, argparse_kwargs: Mapping[str, Any] | None = None
    ) -> argparse.ArgumentParser:
        """Return the parser of the global options, which depend on the type of authentication."""
        plain = super().build_option_parser(description, version, {"prog": self.NAME})
        if self._argv is None:
            # Called by the constructor; run builds the parser again and reports errors.
            return plain
        parser = GlobalParser(
            description=description,
            prog=self.NAME,
            add_help=False,
            allow_abbrev=False,
            parents=[plain],
            conflict_handler="resolve",
        )
        self._config.register_argparse_arguments(parser, self._argv, service_keys=[])
        _add_own_options(parser)
        parser.own_options = self._own_options
        return parser

    def configure_logging(self) -> None:
        """Configure logging; hide warnings of keystoneauth that repeat the error message."""
        super().configure_logging()
        if not self.options.debug and self.options.verbose_level < _LOG_EVERYTHING:
            logging.getLogger("keystoneauth").setLevel(logging.ERROR)

    def initialize_app(self, argv: Sequence[str]) -> None:
        """Refuse an unsupported API version."""
        sessions.major(sessions.requested_version(self.options))

    def run_subcommand(self, argv: Sequence[str]) -> int:
        """Run a command and return its exit code, which is 1 if the command is unknown."""
        if argv[0] == _WORDS:
            self.stdout.write(f"{' '.join(self._words())}\n")
            return 0
        if not self._is_command(argv):
            near = self.get_fuzzy_matches(argv[0])
            near = [each for each in near if each.startswith(argv[0])] or near
            self.stderr.write(f"{_('Unknown command')} {list(argv)}\n")
            self.stderr.write(f"{_('Did you mean one of these?')} {', '.join(near)}\n" if near else "")
            return 1
        code: int = super().run_subcommand(list(argv))
        return code

    def clean_up(self, cmd: Any, result: int, err: BaseException | None) -> None:
        """Print the duration of each request of a command, with ``--collect-timing``."""
        super().clean_up(cmd, result, err)
        if not self.options.collect_timing or "cloud" not in vars(self):
            return
        session = self.cloud.get_session()
        for each in session.get_timings():
            self.stderr.write(f"{each.method} {each.url} {each.elapsed.total_seconds():.3f} s\n")
        session.reset_timings()

    @cached_property
    def cloud(self) -> Any:
        """Return the configuration of the cloud, from options, environment and clouds.yaml."""
        given = self.parser.given if isinstance(self.parser, GlobalParser) else frozenset()
        return self._config.region(self.options, given)

    @cached_property
    def client(self) -> Any:
        """Return the client."""
        return sessions.make_client(self.cloud, self.options)

    @cached_property
    def client_manager(self) -> Any:
        """Return the substitute for the client manager of ``openstack``."""
        return _ClientManager(self)

    def _is_command(self, words: Sequence[str]) -> bool:
        try:
            self.command_manager.find_command(list(words))
        except ValueError:
            return False
        return True

    def _own_options(self, words: Sequence[str]) -> Collection[str]:
        """Return the options of the command at the start of *words*.

        ``--timeout`` is an option of the command only with ``--wait``; otherwise it is the global option,
        the timeout of each request.
        """
        if not words or not self._is_command(words):
            return ()
        factory, _name, rest = self.command_manager.find_command(list(words))
        options = set(factory(self, None).get_parser(self.NAME)._option_string_actions)
        return options if "--wait" in rest else options - {"--timeout"}

    def _words(self) -> list[str]:
        commands = {name: entry.load() for name, entry in self.command_manager}
        options = set(self.parser._option_string_actions)
        for each in commands.values():
            options |= set(each(self, None).get_parser(self.NAME)._option_string_actions)
        return [*sorted(commands), *sorted(options)]


class _ClientManager(SimpleNamespace):
    """Substitute for the client manager of ``openstack``."""

    def __init__(self, shell: BlazarShell) -> None:
        self._shell = shell

    @property
    def reservation(self) -> Any:
        return self._shell.client

    @cached_property
    def sdk_connection(self) -> Any:
        from openstack import connection

        return connection.Connection(config=self._shell.cloud)


def _add_own_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that keystoneauth1 does not have to *parser*."""
    parser.add_argument("--version", action="version", version=f"{BlazarShell.NAME} {version.__version__}")
    parser.add_argument(
        "--os-reservation-api-version",
        metavar="<version>",
        dest="reservation_api_version",
        default=utils.env("OS_RESERVATION_API_VERSION", default="1"),
        help=_("API version, or microversion such as 1.0; default 1 (Env: OS_RESERVATION_API_VERSION)"),
    )
    parser.add_argument(
        "--os_reservation_api_version", dest="reservation_api_version", help=argparse.SUPPRESS
    )
    parser.add_argument(
        "--service-type",
        metavar="<type>",
        default=utils.env("BLAZAR_SERVICE_TYPE"),
        help=_("deprecated; use --os-service-type (Env: BLAZAR_SERVICE_TYPE)"),
    )
    # With the default "public" the interface in clouds.yaml would never be used.
    parser.set_defaults(
        endpoint_type=utils.env("OS_ENDPOINT_TYPE"), os_interface=utils.env("OS_INTERFACE") or None
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``blazar`` and return the exit code."""
    # Users cannot act on warnings of openstacksdk about itself.
    warnings.filterwarnings("ignore", module="openstack")
    return BlazarShell().run(sys.argv[1:] if argv is None else list(argv))


if __name__ == "__main__":
    sys.exit(main())
