"""The configuration of Nova in a plan, as a section of its document."""

from __future__ import annotations

from blazar.planning.document import Code, Items, Paragraph, Section, Table
from blazar.planning.nova import FILTER, NovaAdvice

_CONFIGURATION = f"""\
# nova.conf of every nova-scheduler
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = {FILTER}
enabled_filters = <the present ones>,BlazarFilter"""


def nova_section(advice: NovaAdvice) -> Section:
    """Return the section."""
    specs = advice.extra_specs
    texts = [f"{specs.why}."]
    if specs.hampered:
        texts.append(
            f"With it, servers of {', '.join(specs.hampered)} find no reserved host, because a host leaves"
            " the aggregate of its zone while it is reserved: put these metadata on an aggregate without a"
            " zone."
        )
    needed = "is needed" if specs.is_needed else "is not needed"
    return Section(
        "Configuration of Nova",
        [
            Table(
                ("setting", "needed", "present", "state", "why"),
                [(each.name, each.needed, each.present, each.state, each.why) for each in advice.settings],
            ),
            Code("ini", _CONFIGURATION),
            Paragraph(f"AggregateInstanceExtraSpecsFilter {needed}."),
            Items(texts),
        ],
    )
