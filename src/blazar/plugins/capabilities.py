"""Capabilities: parts of the plugin contract that only some resource types need.

A plugin declares a capability by inheriting its class, and then defines all of its methods: Python does not
create a plugin that lacks one. The core asks with ``isinstance``. A method of a capability that is not
declared stops the start-up (:mod:`blazar.plugins.conformity`). Each class says when the core calls its
methods, and what happens for plugins without it.
"""

from __future__ import annotations

from blazar.plugins.pass_capabilities import (
    ActsBeforeEnd,
    CleansUp,
    HasIndependentSteps,
    ObservesAnswers,
    ObservesUse,
    ServesDespiteFailure,
    ToleratesDamagedSpec,
)
from blazar.plugins.request_capabilities import (
    CreatesAsLessee,
    DescribesEnd,
    DescribesUse,
    ExplainsProblems,
    HasCatalogueEntry,
    HoldsAfterEnd,
    ListsChoices,
    ReadsAsLessee,
    ReleasesChosenResources,
    ReleasesWhileActive,
    RequiresProperties,
    StatesNeed,
    SuggestsOtherTypes,
)
from blazar.plugins.resource_capabilities import (
    DiscoversResources,
    HasLeftovers,
    HasPool,
    RegistersResources,
)

CAPABILITIES: tuple[type, ...] = (
    RequiresProperties,
    StatesNeed,
    SuggestsOtherTypes,
    HasCatalogueEntry,
    DescribesUse,
    DescribesEnd,
    ExplainsProblems,
    ReadsAsLessee,
    ListsChoices,
    CreatesAsLessee,
    ReleasesWhileActive,
    ReleasesChosenResources,
    HoldsAfterEnd,
    HasIndependentSteps,
    ObservesAnswers,
    CleansUp,
    ActsBeforeEnd,
    ServesDespiteFailure,
    ObservesUse,
    ToleratesDamagedSpec,
    DiscoversResources,
    RegistersResources,
    HasPool,
    HasLeftovers,
)
"""All capabilities that a plugin can declare."""

__all__ = (
    "CAPABILITIES",
    "ActsBeforeEnd",
    "CleansUp",
    "CreatesAsLessee",
    "DescribesEnd",
    "DescribesUse",
    "DiscoversResources",
    "ExplainsProblems",
    "HasCatalogueEntry",
    "HasIndependentSteps",
    "HasLeftovers",
    "HasPool",
    "HoldsAfterEnd",
    "ListsChoices",
    "ObservesAnswers",
    "ObservesUse",
    "ReadsAsLessee",
    "RegistersResources",
    "ReleasesChosenResources",
    "ReleasesWhileActive",
    "RequiresProperties",
    "ServesDespiteFailure",
    "StatesNeed",
    "SuggestsOtherTypes",
    "ToleratesDamagedSpec",
)
