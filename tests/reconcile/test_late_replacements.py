"""The end of a lease passes while a manager looks for resources that replace others."""

from __future__ import annotations

from reconcile.parts import Conditions
from reconcile.reconciler_env import ReconcilerEnv

from blazar.domain.lease import LeaseStatus
from blazar.reconcile.replacing import Replacing


def replacing(env: ReconcilerEnv) -> Replacing:
    """Return the replacement of the host of a running lease that ends after two hours."""
    env.reset(Conditions())
    lease = env.lease(env.create("late", 1, 2))
    env.run_until(1.01)
    lease = env.lease(lease.id)
    assert lease.status is LeaseStatus.ACTIVE
    (reservation,) = lease.reservations
    with env.store.read() as transaction:
        held = transaction.allocations.of_reservations([reservation.id])
    return Replacing(
        context=env.manager.context,
        lease=lease,
        reservation=reservation,
        held=held,
        reasons={held[0].resource_id: "it is broken"},
    )


def test_until_the_end_another_host_is_found(env: ReconcilerEnv) -> None:
    late = replacing(env)

    found = late.find(0)

    assert found is not None
    assert len(late.added(found)) == 1


def test_after_the_end_nothing_is_found(env: ReconcilerEnv) -> None:
    late = replacing(env)
    env.jump(2)

    assert late.find(0) is None
    assert not late.is_enough()
