"""The plan of a cloud: reads the live data once, and computes all parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.domain.interval import Interval
from blazar.planning.allocation_table import AllocationRow, BookedTimes, allocation_row, allocation_table
from blazar.planning.booked import booked_times
from blazar.planning.commands import Command, host_commands, lease_commands
from blazar.planning.copy import copied
from blazar.planning.goals import TYPE_OF, Asked, Goal, TypeCost, type_costs
from blazar.planning.history import read_history
from blazar.planning.load import Use, load_of
from blazar.planning.loss import Loss, find_loss
from blazar.planning.nova import NovaAdvice, NovaConf, advise_on_nova
from blazar.planning.past import Habits, read_habits, requested_uses
from blazar.planning.policy import LeasePolicy, advise_on_policy
from blazar.planning.reading import DEFAULT_RACK, CloudHosts, Grouping, read_hosts
from blazar.planning.recommendation import Demand, Recommendation, recommend


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The question of an operator."""

    horizon: timedelta
    """How far ahead bookings count."""
    history: timedelta
    """How far back leases count."""
    asked: Asked
    """The servers for which resource types are compared."""
    grouping: Grouping = field(default_factory=Grouping)
    goal: Goal | None = None
    growth_percent: float = 0
    expected_hosts: int = 0
    """How many hosts the operator expects to be reserved at the same time."""
    general_limit_percent: float = 80
    nova_conf: NovaConf | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The answer."""

    made_at: datetime
    horizon_end: datetime
    rows: tuple[AllocationRow, ...]
    total: AllocationRow
    loss: Loss | None
    """The loss of the largest failure domain; None without reservable hosts."""
    habits: Habits
    recommendation: Recommendation
    goal: Goal | None
    goal_type: str | None
    """The resource type for the goal."""
    asked: Asked
    costs: tuple[TypeCost, ...]
    """The cost of each resource type for the servers that are asked for."""
    policy: LeasePolicy
    host_commands: tuple[Command, ...]
    lease_commands: tuple[Command, ...]
    nova: NovaAdvice


def make_plan(context: Context, request: PlanRequest) -> Plan:
    """Return the plan of the cloud as it is now; nothing is changed.

    Raises:
        InvalidParameter: A property, aggregate or flavor does not exist.
        CloudError: Nova or Placement cannot be read.
    """
    found = read_hosts(context, request.grouping)
    with copied(context) as copy:
        return _plan(copy, request, found)


def _plan(copy: Context, request: PlanRequest, found: CloudHosts) -> Plan:
    now = copy.clock.now()
    window = Interval(now, now + request.horizon)
    booked, history = booked_times(copy, window), read_history(copy, request.history)
    habits = read_habits(copy, history.requests, history.since)
    demand = Demand(
        past=load_of(history.uses, Interval(history.since, now)),
        booked=load_of(_uses(booked), window),
        refused=load_of(requested_uses(copy, history.refused), Interval(history.since, window.end)),
        number_refused=len(history.refused),
        growth_percent=request.growth_percent,
        expected=request.expected_hosts,
    )
    unbooked = {
        each.resource_id for each in found.hosts if each.resource_id is not None
    } - booked.occupied.keys()
    recommendation = recommend(
        found.hosts, demand, unbooked, general_limit_percent=request.general_limit_percent
    )
    policy, costs = advise_on_policy(copy, habits), type_costs(copy, request.asked, window.end)
    return Plan(
        made_at=now,
        horizon_end=window.end,
        rows=allocation_table(found.hosts, booked, window),
        total=allocation_row(("all", "all", "all"), found.hosts, booked, window),
        loss=find_loss(copy, found.hosts, window),
        habits=habits,
        recommendation=recommendation,
        goal=request.goal,
        goal_type=None if request.goal is None else TYPE_OF[request.goal],
        asked=request.asked,
        costs=costs,
        policy=policy,
        host_commands=host_commands(recommendation, request.grouping.rack_property or DEFAULT_RACK),
        lease_commands=lease_commands(costs, now, request.asked.duration, policy.notice),
        nova=advise_on_nova(copy, found, request.nova_conf),
    )


def _uses(booked: BookedTimes) -> list[Use]:
    return [(start, end, 1.0) for each in booked.reserved.values() for start, end in each]
