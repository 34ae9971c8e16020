"""Stories of one resource type with a fault at every step in turn, beside those of the contract suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import pytest

from blazar_plugin_testing.contract import HarnessedEnv
from blazar_plugin_testing.faults import COMMIT_FAULTS
from blazar_plugin_testing.lives import each_call, each_commit
from blazar_plugin_testing.plugin_env import PluginEnv

Story = Callable[[PluginEnv], None]


class EveryStep(HarnessedEnv):
    """Tests of the stories that a class names."""

    stories: ClassVar[Mapping[str, Story]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with each story; pytest calls this."""
        metafunc.parametrize("tell", list(self.stories), indirect=True)

    @pytest.fixture
    def tell(self, request: pytest.FixtureRequest) -> Story:
        return self.stories[request.param]

    @pytest.mark.parametrize("fault", ["fails", "reply-lost", "killed"])
    def test_every_call_may_fail_once(self, env: PluginEnv, tell: Story, fault: str) -> None:
        each_call(env, tell, fault)

    @pytest.mark.parametrize("fault", list(COMMIT_FAULTS))
    def test_every_commit_may_go_wrong_once(self, env: PluginEnv, tell: Story, fault: str) -> None:
        each_commit(env, tell, fault)

    def test_every_step_can_be_taken_twice(self, env: PluginEnv, tell: Story) -> None:
        env.reset(takes_steps_twice=True)

        tell(env)

        assert env.snapshot() == env.empty
