"""Requests and responses as JSON."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, cast

import pytest
from oslo_context import context as oslo
from telemetry.listening import listening

from blazar.domain import errors
from blazar.domain.written_objects import WrittenObjects
from blazar.ports.manager import Caller, Manager
from blazar.rpc.messages import DECLARED, answer, local_manager, remote_manager

CALLER = Caller(user_id="u", project_id="p", roles=("member", "reader"), request_id="req-1", token="secret")


class Recorder:
    """A manager that records its requests, and returns a given result or raises a given error."""

    def __init__(self, result: object = None, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, Caller, tuple[object, ...]]] = []
        self._result = result
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def method(caller: Caller, *arguments: object) -> object:
            self.asked.append((name, caller, arguments))
            if self._error is not None:
                raise self._error
            return self._result

        return method


def _all_errors(root: type[errors.BlazarError]) -> Iterator[type[errors.BlazarError]]:
    yield root
    for child in root.__subclasses__():
        yield from _all_errors(child)


@pytest.mark.parametrize("method", sorted(DECLARED))
def test_every_method_of_the_manager_sends_its_name_and_arguments(method: str) -> None:
    requests: list[dict[str, Any]] = []
    names = list(inspect.signature(DECLARED[method]).parameters)[2:]

    def carry(request: dict[str, Any]) -> dict[str, Any]:
        requests.append(request)
        return {"result": "the answer"}

    remote = remote_manager(carry)
    answers = [
        getattr(remote, method)(CALLER, *names),
        getattr(remote, method)(CALLER, **{name: name for name in names}),
    ]

    assert answers == ["the answer"] * 2
    assert [each["method"] for each in requests] == [method] * 2
    assert [each["arguments"] for each in requests] == [names] * 2


def test_requests_about_resource_types_keep_their_names_for_processes_of_other_versions() -> None:
    of_hosts = {"list_hosts", "get_host", "create_host", "update_host", "delete_host"}
    of_allocations = {"list_allocations", "get_allocations"}
    of_properties = {"list_resource_properties", "update_resource_property"}
    of_addresses = {"list_floatingips", "get_floatingip", "create_floatingip", "delete_floatingip"}

    assert of_hosts | of_allocations | of_properties | of_addresses <= DECLARED.keys()


def test_what_the_interface_does_not_have_is_not_sent() -> None:
    remote: Any = remote_manager(lambda request: pytest.fail("a request was sent"))

    with pytest.raises(AttributeError):
        remote.drop_tables(CALLER)
    with pytest.raises(TypeError):
        remote.get_lease(CALLER)
    with pytest.raises(TypeError):
        remote.get_lease(CALLER, "1", colour="blue")


def test_a_request_arrives_as_it_was_made() -> None:
    recorder = Recorder(result={"id": "1"})

    result = local_manager(cast("Manager", recorder)).update_lease(CALLER, "1", {"name": "ü"})

    assert result == {"id": "1"}
    assert recorder.asked == [("update_lease", CALLER, ("1", {"name": "ü"}))]


@pytest.mark.parametrize("kind", list(_all_errors(errors.BlazarError)))
def test_an_error_comes_out_as_the_class_it_went_in_as(kind: type[errors.BlazarError]) -> None:
    raised = kind.__new__(kind)
    errors.BlazarError.__init__(raised, "what went wrong", name="min", limits=[1, 2])

    with pytest.raises(errors.BlazarError) as caught:
        local_manager(cast("Manager", Recorder(error=raised))).list_offers(CALLER)

    assert type(caught.value) is kind
    assert caught.value.message == "what went wrong"
    assert caught.value.fields == {"name": "min", "limits": [1, 2]}


def test_codes_of_errors_are_unique() -> None:
    codes = [each.code for each in _all_errors(errors.BlazarError)]

    assert len(codes) == len(set(codes))


def test_an_unexpected_error_tells_nothing_of_the_inside() -> None:
    reply = answer(
        cast("Manager", Recorder(error=RuntimeError("password=x"))),
        {"method": "list_hosts", "caller": {"user_id": "u", "project_id": "p", "roles": []}, "arguments": []},
    )

    assert reply["error"]["code"] == "internal"
    assert "password" not in json.dumps(reply)


@pytest.mark.parametrize("method", ["_context", "__class__", "__init__", "no_such_method"])
def test_only_use_cases_can_be_called(method: str) -> None:
    recorder = Recorder()

    reply = answer(
        cast("Manager", recorder),
        {"method": method, "caller": {"user_id": "u", "project_id": "p", "roles": []}, "arguments": []},
    )

    assert "error" in reply
    assert recorder.asked == []


@pytest.mark.parametrize(
    ("code", "text", "fields"),
    [
        ("unknown-method", "Unknown method get_lease", {"method": "get_lease"}),
        ("internal", "Unknown method get_lease", {}),
        ("internal", "There is no method get_lease", {}),
    ],
    ids=["now", "before", "previous-release"],
)
def test_a_manager_without_a_method_is_told_from_one_that_failed(
    code: str, text: str, fields: dict[str, Any]
) -> None:
    unknown = {"error": {"code": code, "message": text, "fields": fields}}
    failed = {"error": {"code": "internal", "message": "Internal error in the manager", "fields": {}}}

    with pytest.raises(errors.UnknownMethod) as caught:
        remote_manager(lambda request: unknown).get_lease(CALLER, "1")
    assert caught.value.fields == {"method": "get_lease"}
    with pytest.raises(errors.BlazarError) as other:
        remote_manager(lambda request: failed).get_lease(CALLER, "1")
    assert type(other.value) is errors.BlazarError


def test_a_method_of_a_later_version_is_unknown_and_calls_nothing() -> None:
    recorder = Recorder()
    request = {"method": "melt_lease", "caller": asdict(CALLER), "arguments": ["1"]}

    reply = answer(cast("Manager", recorder), request)

    # An API of the version before knows neither the code nor the class, and answers 500.
    assert reply["error"] == {
        "code": "unknown-method",
        "message": "Unknown method melt_lease",
        "fields": {"method": "melt_lease"},
    }
    assert recorder.asked == []


def test_a_caller_does_not_show_their_token() -> None:
    assert "secret" not in repr(CALLER)


def test_what_goes_wrong_is_logged_with_whose_request_it_was() -> None:
    caller = {**asdict(CALLER), "roles": ["member"], "global_request_id": "req-2"}
    request = {"method": "delete_lease", "caller": caller, "arguments": ["lease-1"]}

    with listening() as lines:
        answer(cast("Manager", Recorder(error=RuntimeError("unexpected"))), request)

    line, last = lines
    assert line.text.startswith("Request failed: method=delete_lease")
    assert last.text == "Request answered: method=delete_lease outcome=internal"
    assert {
        each: line.about[each]
        for each in ("request_id", "global_request_id", "user_id", "project_id", "lease_id")
    } == {
        "request_id": "req-1",
        "global_request_id": "req-2",
        "user_id": "u",
        "project_id": "p",
        "lease_id": "lease-1",
    }
    assert "secret" not in f"{line.text} {line.about}"
    assert oslo.get_current() is None


def test_a_message_that_is_no_request_is_answered_all_the_same() -> None:
    reply = answer(cast("Manager", Recorder()), {"method": "list_hosts"})

    assert reply["error"]["code"] == "internal"


class TestALongList:
    OBJECTS: tuple[dict[str, object], ...] = (
        {"id": "1", "name": 'ü "🌙" \\'},
        {"id": "2", "of": {"a": [None, 1.5]}},
    )

    @pytest.fixture
    def recorder(self) -> Recorder:
        return Recorder(WrittenObjects(json.dumps(self.OBJECTS)))

    def test_it_arrives_as_it_was_written(self, recorder: Recorder) -> None:
        found = local_manager(cast("Manager", recorder)).list_leases(CALLER, None)

        assert isinstance(found, WrittenObjects)
        assert (found.text, list(found)) == (json.dumps(self.OBJECTS), list(self.OBJECTS))

    def test_an_empty_one_arrives(self) -> None:
        recorder = Recorder(WrittenObjects("[]"))

        assert list(local_manager(cast("Manager", recorder)).list_leases(CALLER, None)) == []

    def test_it_is_short_on_its_way_and_has_nothing_to_be_escaped(self) -> None:
        objects = [{"id": number, "ü": "same"} for number in range(999)]
        recorder = Recorder(WrittenObjects(json.dumps(objects)))
        carried: list[str] = []

        def carry(request: dict[str, Any]) -> dict[str, Any]:
            reply = answer(cast("Manager", recorder), request)
            carried.append(json.dumps(reply))
            return reply

        found = remote_manager(carry).list_leases(CALLER, None)

        assert list(found) == objects
        assert len(carried[0]) < len(json.dumps(objects)) / 3
        assert "\\" not in carried[0]

    def test_an_api_of_the_version_before_is_answered_in_objects(self, recorder: Recorder) -> None:
        request = {"method": "list_leases", "caller": asdict(CALLER), "arguments": [None]}

        reply = json.loads(json.dumps(answer(cast("Manager", recorder), request)))

        assert reply["result"] == list(self.OBJECTS)

    def test_a_manager_of_the_version_before_is_understood(self) -> None:
        remote = remote_manager(lambda request: {"result": [{"id": "1"}]})

        assert remote.list_leases(CALLER, None) == [{"id": "1"}]

    def test_its_objects_can_be_inspected_where_it_was_written(self) -> None:
        written = WrittenObjects(json.dumps(self.OBJECTS))

        assert list(written) == list(self.OBJECTS)
        assert (len(written), written[1]) == (2, self.OBJECTS[1])
        assert list(written[:1]) == [self.OBJECTS[0]]
        assert json.loads(written.text) == list(self.OBJECTS)

    def test_some_of_its_lines_are_taken_as_they_are(self) -> None:
        # Only the last one can be parsed.
        written = WrittenObjects.of(["{1", "{2", '{"id": "3"}'])

        assert len(written) == 3
        assert written[-1] == {"id": "3"}
        taken = written[1:]
        assert isinstance(taken, WrittenObjects)
        assert taken.text == '[{2,\n{"id": "3"}]'

    @pytest.mark.parametrize("count", [0, 1, 2, 3])
    def test_lines_are_the_same_objects(self, count: int) -> None:
        objects = [{"id": str(number), "name": "a,\nb"} for number in range(count)]

        written = WrittenObjects.of(map(json.dumps, objects))

        assert list(written) == objects == json.loads(written.text)
        assert len(written) == count
        assert list(written[:2]) == objects[:2]
        assert [written[number] for number in range(count)] == objects
