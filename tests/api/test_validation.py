"""A refused body says what would be accepted."""

from __future__ import annotations

import pytest

from blazar.api.validation import BodySchema
from blazar.domain.errors import InvalidParameter


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, 0, "size: must be from 1 to 9"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 10, "size: must be from 1 to 9"),
        ({"type": "number", "minimum": 0}, -0.5, "size: must be at least 0"),
        ({"type": "integer", "maximum": 9}, 10, "size: must be at most 9"),
        ({"type": "string", "minLength": 1}, "", "size: must be at least 1 characters long"),
        ({"type": "string", "minLength": 2}, "a", "size: must be at least 2 characters long"),
        ({"type": "string", "maxLength": 2}, "abc", "size: must be at most 2 characters long"),
        ({"type": "array", "minItems": 1}, [], "size: must have at least 1 elements"),
        ({"type": "array", "maxItems": 1}, [1, 2], "size: must have at most 1 elements"),
    ],
)
def test_a_limit_is_in_the_message(rule: dict[str, object], value: object, message: str) -> None:
    schema = BodySchema(name="any", definition={"type": "object", "properties": {"size": rule}})

    with pytest.raises(InvalidParameter) as refusal:
        schema.check({"size": value})

    assert message in str(refusal.value)
