"""The right to begin a call that others may begin, too: a `started` report before the function runs.

CLAIM-1 a claim is granted at most once: each has a name of its own, and the gate grants one.
CLAIM-2 a claim that got no answer may be asked for again under its name: nothing has begun by it.
"""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict

UNANSWERED_MAX = 10_000
"""Beyond this the oldest are forgotten; their calls count as begun."""


class Claims:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unanswered: OrderedDict[str, str] = OrderedDict()

    def ask(self, decision_id: str) -> dict[str, object]:
        """The report that claims the call."""
        with self._lock:
            name = self._unanswered.setdefault(decision_id, uuid.uuid4().hex)
            if len(self._unanswered) > UNANSWERED_MAX:
                self._unanswered.popitem(last=False)
        return {"status": "started", "by": name}

    def answered(self, decision_id: str) -> None:
        """The gate has answered, so that a further claim is another one."""
        with self._lock:
            self._unanswered.pop(decision_id, None)
