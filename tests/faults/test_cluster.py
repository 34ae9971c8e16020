"""Many lessees on clusters of Galera and RabbitMQ whose nodes fail; ``make cluster`` has more faults."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from faults.broker_troubles import BROKER_TROUBLES
from faults.client import Client, Said
from faults.galera_troubles import GALERA_TROUBLES
from faults.runs import FaultedInstallation, faulted_installation
from faults.troubles import TROUBLES
from installations import require_installation
from oslo_db.exception import DBDeadlock
from programs import wait_until
from samples import HOUR, make_host, make_lease

from blazar.db.connection import Connection
from blazar.db.drivers import WRITES
from blazar.db.engine import make_engine
from blazar.db.schema import upgrade
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.health import Diagnosis, Health
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.answers import StoredAnswer
from blazar.ports.outbox import Message
from blazar.ports.store import Transaction
from rig.wanted import Wanted

LEASES = 25
FEW_LEASES = 10
CONSECUTIVE = 30


@pytest.fixture(scope="module")
def faulted() -> Iterator[FaultedInstallation]:
    require_installation("galera")
    with faulted_installation(Wanted(database="galera", managers=3, broker_nodes=3)) as faulted:
        yield faulted


@pytest.mark.parametrize("name", ["manager-killed", "database-killed"])
def test_nodes_agree_and_promise_nothing_twice_whatever_is_killed(
    faulted: FaultedInstallation, name: str
) -> None:
    report = faulted.strike(name, TROUBLES[name], seed=random.randrange(2**31), leases=LEASES)

    print(report)
    assert report.strikes >= 1
    assert report.ledger.created >= LEASES


@pytest.mark.parametrize("name", ["database-node-paused", "database-node-cut-off"])
def test_nodes_agree_whatever_happens_to_one_of_them(faulted: FaultedInstallation, name: str) -> None:
    report = faulted.strike(name, GALERA_TROUBLES[name], seed=random.randrange(2**31), leases=FEW_LEASES)

    print(report)
    assert report.strikes >= 1


@pytest.mark.parametrize("name", ["broker-node-killed"])
def test_every_answer_comes_true_once_whatever_happens_to_a_broker(
    faulted: FaultedInstallation, name: str
) -> None:
    report = faulted.strike(name, BROKER_TROUBLES[name], seed=random.randrange(2**31), leases=FEW_LEASES)

    print(report)
    assert report.strikes >= 1
    assert report.notices > 0


def test_requests_are_served_while_the_database_of_one_manager_is_down(faulted: FaultedInstallation) -> None:
    node = faulted.installation.databases[-1]
    node.stop()
    try:
        with closing(Client(faulted.gateway, "user")) as client:
            # The broker gives requests to three managers in turn.
            assert wait_until(
                lambda: all(client.ask("GET", "/leases").said is Said.DONE for _ in range(CONSECUTIVE))
            )
    finally:
        node.start()
        node.wait_until_answers()


HOST, LEASE = make_host("1"), make_lease("lease")
ANSWER = StoredAnswer(key="key", request_digest="digest", answer="{}", created_at=EPOCH)
FAILED = Diagnosis(health=Health.FAILED, problem="down")
Act = Callable[[Transaction], object]


@pytest.fixture(scope="module")
def nodes(faulted: FaultedInstallation) -> Iterator[tuple[SqlStore, SqlStore]]:
    """Yield the stores of one database on two nodes."""
    faulted.installation.make_database("nodes")
    urls = [each.rpartition("/")[0] + "/nodes" for each in faulted.installation.database_urls[:2]]
    with ExitStack() as engines:
        one, other = (make_engine(url) for url in urls)
        engines.callback(one.dispose)
        engines.callback(other.dispose)
        upgrade(one)
        yield SqlStore(one, ManualClock(), {}), SqlStore(other, ManualClock(), {})


@pytest.fixture
def store(nodes: tuple[SqlStore, SqlStore]) -> SqlStore:
    """Return the store on the first node, with a host and a due lease."""
    empty_tables(nodes[0]._engine)
    do(nodes[0], insert)
    return nodes[0]


def insert(transaction: Transaction) -> None:
    transaction.of(HOST_STORE).insert(HOST)
    transaction.leases.insert(LEASE)
    transaction.work.plan({LEASE.id: EPOCH})
    transaction.outbox.append([Message(event_type="lease.create", lease_id=LEASE.id, payload={})], EPOCH)


def do(store: SqlStore, act: Act) -> None:
    with store.begin() as transaction:
        act(transaction)
        transaction.commit()


def claim_work(transaction: Transaction) -> None:
    assert transaction.work.claim_due("manager", EPOCH, EPOCH + HOUR, 1)


def claim_host(transaction: Transaction) -> None:
    transaction.allocations.claim(transaction.availability.generations([HOST.id]))


def check_lease(transaction: Transaction) -> None:
    transaction.leases.check(LEASE)


def schedule(transaction: Transaction) -> None:
    transaction.work.schedule([LEASE.id], EPOCH + HOUR)


def replace_lease(transaction: Transaction) -> None:
    transaction.leases.replace(LEASE, LEASE, EPOCH)


def count_project(transaction: Transaction) -> None:
    transaction.quotas.lock("project")


def take_messages(transaction: Transaction) -> None:
    assert transaction.outbox.take(EPOCH, EPOCH + HOUR, 1)


def store_answer(transaction: Transaction) -> None:
    transaction.answers.insert(ANSWER)


def note_failure(transaction: Transaction) -> None:
    transaction.resources.set_diagnosis(HOST.id, FAILED, EPOCH)


PAIRS = [
    (take_messages, take_messages),
    (note_failure, claim_host),
    (claim_work, claim_work),
    (claim_work, schedule),
    (schedule, claim_work),
    (claim_host, claim_host),
    (check_lease, replace_lease),
    (replace_lease, check_lease),
    (count_project, count_project),
    (store_answer, store_answer),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_transactions_on_two_nodes_the_second_to_commit_is_refused(
    store: SqlStore, nodes: tuple[SqlStore, SqlStore], first: Act, second: Act
) -> None:
    _, other = nodes

    def run() -> None:
        with other.begin() as late:
            second(late)
            do(store, first)
            late.commit()

    with pytest.raises(ConcurrentUpdate):
        run()


def test_a_claim_that_was_taken_over_on_another_node_is_not_kept(
    store: SqlStore, nodes: tuple[SqlStore, SqlStore]
) -> None:
    _, other = nodes
    with store.begin() as transaction:
        (claim,) = transaction.work.claim_due("one", EPOCH, EPOCH, 1)
        transaction.commit()

    def run() -> None:
        with store.begin() as late:
            late.work.keep(claim)
            do(other, claim_work)
            late.commit()

    with pytest.raises(ConcurrentUpdate):
        run()


def test_what_one_node_has_committed_is_read_on_another_at_once(
    store: SqlStore, nodes: tuple[SqlStore, SqlStore]
) -> None:
    _, other = nodes

    for number in range(50):
        new = make_lease(f"lease-{number}")
        do(store, lambda transaction, new=new: transaction.leases.insert(new))  # type: ignore[misc]
        with other.read() as transaction:
            assert transaction.leases.find(new.id) is not None


COUNTERS = sa.table("counters", sa.column("id", sa.Integer), sa.column("number", sa.Integer))
PARTS = [sa.table(f"part_{number}", sa.column("id", sa.String)) for number in range(8)]
INCREMENT = sa.update(COUNTERS).values(number=COUNTERS.c.number + 1)
ADD_PARTS = [sa.insert(each) for each in PARTS]
SECONDS = 5


def test_a_transaction_that_another_node_aborts_has_no_effect(nodes: tuple[SqlStore, SqlStore]) -> None:
    engines = [each._engine for each in nodes]
    with engines[0].begin() as connection:
        connection.exec_driver_sql("CREATE TABLE counters (id INTEGER PRIMARY KEY, number INTEGER)")
        connection.execute(sa.insert(COUNTERS), [{"id": number, "number": 0} for number in range(3)])
        for each in PARTS:
            connection.exec_driver_sql(f"CREATE TABLE {each.name} (id VARCHAR(36) PRIMARY KEY)")

    with ThreadPoolExecutor() as pool:
        results = list(pool.map(compete, [engine for engine in engines for _ in range(4)]))
    committed = {each for known, _ in results for each in known}

    assert sum(number for _, number in results) > 100, "too few transactions were aborted"
    with engines[1].connect() as connection:
        for each in PARTS:
            assert set(connection.scalars(sa.select(each.c.id))) == committed
        assert connection.scalar(sa.select(sa.func.sum(COUNTERS.c.number))) == len(committed)


def compete(engine: sa.Engine) -> tuple[list[str], int]:
    """Run transactions that conflict with others; return what was committed, and how many were aborted."""
    committed, aborted, until = [], 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        row = {"id": str(uuid.uuid4())}
        try:
            with engine.connect() as raw:
                connection = Connection(raw.execution_options(**{WRITES: True}))
                connection.execute(INCREMENT.where(COUNTERS.c.id == random.randrange(3)))
                for each in ADD_PARTS:
                    connection.later(each, [row])
                connection.commit()
        except DBDeadlock:
            aborted += 1
        else:
            committed.append(row["id"])
    return committed, aborted
