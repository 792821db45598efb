"""Calls that nobody runs, because the gate's answer did not come.

The gate may have allowed such a call, and would count it as under way. Its id was made here, so
that nobody else can make it: before the next call of its conversation it is asked for again, and
reported as not executed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

from .. import endpoints, models
from ..decisions import Decision, is_undecided
from ..errors import CallgateError
from ..proposal import build_report, propose
from ..steps import Steps, ask

CALLS_MAX = 1_000
"""Beyond this the oldest are left to the gate, which gives them an unknown outcome."""
LATE = {"code": "too_late", "message": "the gate answered too late, so that nobody ran it"}


class UnrunCalls:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: OrderedDict[str, models.Proposal] = OrderedDict()

    def add(self, proposal: models.Proposal) -> None:
        with self._lock:
            self._calls[proposal.call_id or ""] = proposal
            if len(self._calls) > CALLS_MAX:
                self._calls.popitem(last=False)

    def settle(self, upcoming: models.Proposal) -> Steps[None]:
        """Settles what is left of the conversation; what cannot be settled now is left for later."""
        for proposal in self._take(upcoming):
            request = replace(propose(proposal), may_repeat=False)
            decision: Decision = yield from ask(request)
            if is_undecided(decision):
                self.add(proposal)
                return
            if decision.outcome != "allowed":
                continue
            body = build_report("not_executed", error=LATE)
            report = replace(endpoints.report(decision.decision_id, body), is_patient=False)
            try:
                yield from ask(report)
            except CallgateError:
                self.add(proposal)
                return

    def _take(self, upcoming: models.Proposal) -> list[models.Proposal]:
        if not self._calls:
            return []
        name = (upcoming.tenant_id, upcoming.conversation_id)
        with self._lock:
            same = [
                call_id
                for call_id, one in self._calls.items()
                if (one.tenant_id, one.conversation_id) == name
            ]
            return [self._calls.pop(call_id) for call_id in same]
