"""Stories of one resource type with a fault at every step, beside those of the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

import pytest

from blazar_plugin_testing.contract import HarnessedEnv
from blazar_plugin_testing.faults import COMMIT_FAULTS
from blazar_plugin_testing.lives import each_call, each_commit
from blazar_plugin_testing.plugin_env import PluginEnv

Story = Callable[[PluginEnv], None]

# Each step has one of the faults: the first fault at steps 1, 4, 7, the next one at 2, 5, 8.
_CALL_FAULTS: Final = ("fails", "reply-lost", "killed")
_COMMIT_FAULTS: Final = tuple(COMMIT_FAULTS)


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
        each_call(env, tell, fault, stride=len(_CALL_FAULTS), first=_CALL_FAULTS.index(fault) + 1)

    @pytest.mark.parametrize("fault", _COMMIT_FAULTS)
    def test_every_commit_may_go_wrong_once(self, env: PluginEnv, tell: Story, fault: str) -> None:
        each_commit(env, tell, fault, stride=len(_COMMIT_FAULTS), first=_COMMIT_FAULTS.index(fault) + 1)

    def test_every_step_can_be_taken_twice(self, env: PluginEnv, tell: Story) -> None:
        env.reset(takes_steps_twice=True)

        tell(env)

        assert env.snapshot() == env.empty
