"""The in-process twin of the bus: everything goes through JSON, as it would between processes."""

from __future__ import annotations

import json
from typing import Any

from blazar.ports.manager import Manager
from blazar.rpc.messages import RemoteManager, answer


def local_manager(manager: Manager) -> RemoteManager:
    """Return *manager* as the API sees it, in one process with it."""

    def carry(request: dict[str, Any]) -> dict[str, Any]:
        reply = answer(manager, json.loads(json.dumps(request)))
        return json.loads(json.dumps(reply))  # type: ignore[no-any-return]

    return RemoteManager(carry)
