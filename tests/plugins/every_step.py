"""Stories of one resource type with a fault at every step, beside those of the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

import pytest
import turns

from blazar_plugin_testing.contract import HarnessedEnv
from blazar_plugin_testing.faults import COMMIT_FAULTS
from blazar_plugin_testing.lives import each_call, each_commit
from blazar_plugin_testing.plugin_env import PluginEnv

Story = Callable[[PluginEnv], None]

# Each step has one of the faults: the first fault at steps 1, 4, 7, the next one at 2, 5, 8. Of the steps
# of a fault, a run tries every third one.
_CALL_FAULTS: Final = ("fails", "reply-lost", "killed")
_COMMIT_FAULTS: Final = tuple(COMMIT_FAULTS)
_PARTS: Final = 3


class EveryStep(HarnessedEnv):
    """Tests of the stories that a class names."""

    stories: ClassVar[Mapping[str, Story]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with each story; pytest calls this."""
        metafunc.parametrize("tell", list(self.stories), indirect=True)

    @pytest.fixture
    def tell(self, request: pytest.FixtureRequest) -> Story:
        return self.stories[request.param]

    @pytest.mark.parametrize("fault", _CALL_FAULTS)
    def test_every_call_may_fail_once(self, env: PluginEnv, tell: Story, fault: str) -> None:
        each_call(env, tell, fault, **_steps(_CALL_FAULTS, fault))

    @pytest.mark.parametrize("fault", _COMMIT_FAULTS)
    def test_every_commit_may_go_wrong_once(self, env: PluginEnv, tell: Story, fault: str) -> None:
        each_commit(env, tell, fault, **_steps(_COMMIT_FAULTS, fault))

    def test_every_step_can_be_taken_twice(self, env: PluginEnv, tell: Story) -> None:
        env.reset(takes_steps_twice=True)

        tell(env)

        assert env.snapshot() == env.empty


def _steps(faults: Sequence[str], fault: str) -> dict[str, int]:
    """Return the first step at which this run tries a fault, and after how many steps it does again."""
    count = len(faults)
    return {"first": 1 + faults.index(fault) + count * turns.part(_PARTS), "stride": count * _PARTS}
