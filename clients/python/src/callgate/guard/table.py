"""What becomes of a guarded call: the same table of outcomes as the TypeScript `guard` has.

GUARD-1 a function runs only for an allowed decision, and in this process once per decision at a time.
GUARD-2 a write whose call id others may use again is claimed before its function runs; whoever
  cannot claim it does not run it. A read may run again.
GUARD-3 a guarded function answers when its result is journaled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import endpoints, models
from ..conversation import OnHeld
from ..decisions import Decision, client_refusal, is_undecided
from ..errors import CallgateError, no_effect
from ..http_answer import says_nothing
from ..proposal import build_report, propose
from ..refused import Refused, refused_of
from ..steps import Invoke, Pause, Steps, ask
from ..waiting import wait_decision
from .claims import Claims
from .execution import (
    Execution,
    GivenUp,
    Interrupted,
    Raised,
    Returned,
    Run,
    as_it_is,
    report_of,
)
from .handler_call import HandlerCall, current_call
from .present import AnswerForm, EarlierOutput, earlier_output, mark_error, present
from .unrun_calls import UnrunCalls
from .write_order import GAVE_UP, End, SharedRuns, WriteOrder

NO_KEY = (
    "This call was not run: the credential of this program does not let it run calls. This is not "
    "your mistake and calling again will not help."
)
NOT_EXECUTED = (
    "This call was not run, and can no longer run under its call id. Make it again as a new call."
)

Allowed = models.AllowedDecision
DecisionListener = Callable[[Decision, models.Proposal], None]


@dataclass(frozen=True)
class GuardedCall:
    """One call through the gate."""

    proposal: models.Proposal
    start: Callable[[Mapping[str, Any], HandlerCall], Any]
    """Runs the function with the arguments that were decided on."""
    has_name: bool
    """The caller chose the call id, or an approval id, so it may make the call again."""
    on_held: OnHeld
    answers: AnswerForm
    on_refused: str
    listeners: tuple[DecisionListener, ...] = ()
    is_stream: bool = False
    output_of: Callable[[Any], object] = as_it_is
    """What is journaled of a value that the function returned."""
    is_interrupt: Callable[[BaseException], bool] = lambda _: False
    """Whether an exception says that the framework begins the call again later."""


class GuardTable:
    def __init__(self, report_late: Callable[[str, dict[str, object]], None]) -> None:
        """`report_late` sends a report that nobody waits for."""
        self._report_late = report_late
        self._claims = Claims()
        self._order = WriteOrder()
        self._runs = SharedRuns()
        self._unrun = UnrunCalls()

    def answer(self, call: GuardedCall) -> Steps[object]:
        """The answer of a guarded function.

        Raises what the function raised, and `CallgateError` `time_limit`, `result_not_recorded`,
        and what the gate says of a wrong request.
        """
        decision = yield from self._decide(call)
        for listener in call.listeners:
            listener(decision, call.proposal)
        try:
            answer = yield from self._answer_decided(call, decision)
        except Exception as error:
            mark_error(error, decision.warnings)
            raise
        if call.on_refused == "raise" and isinstance(answer, Refused):
            raise CallgateError("refused", answer.to_model(), refused=answer)
        return present(answer, decision.warnings, "bare" if call.is_stream else call.answers)

    def _decide(self, call: GuardedCall) -> Steps[Decision]:
        proposal = call.proposal
        yield from self._unrun.settle(proposal)
        decision = yield from ask(propose(proposal))
        if is_undecided(decision) and not call.has_name:
            self._unrun.add(proposal)
        if decision.outcome != "held" or call.on_held != "wait":
            return decision
        try:
            return (yield from wait_decision(decision.decision_id, None))
        except CallgateError as error:
            if not says_nothing(error):
                raise
            # It is still held and may be approved: made again under its id, it runs.
            return decision

    def _answer_decided(self, call: GuardedCall, decision: Decision) -> Steps[object]:
        if decision.outcome == "allowed":
            return (yield from self._run_once(call, decision))
        if decision.outcome == "refused" and decision.answered:
            return earlier_output(decision.refusal)
        return refused_of(decision, decision.refusal)

    def _run_once(self, call: GuardedCall, decision: Allowed) -> Steps[object]:
        run, is_mine = self._runs.join(decision.decision_id)
        if not is_mine:
            if call.is_stream:
                return refuse(decision, "duplicate_in_flight")
            yield Pause([run])
            shared = run.result()
            return refuse(decision, "outcome_unknown") if shared is GAVE_UP else shared
        answer: object = None
        failure: BaseException | None = None
        try:
            answer = yield from self._run_in_turn(call, decision)
            return answer
        except BaseException as error:
            failure = error
            raise
        finally:
            self._runs.leave(decision.decision_id, answer, failure)

    def _run_in_turn(self, call: GuardedCall, decision: Allowed) -> Steps[object]:
        if decision.idempotency_key is None:
            return (yield from self._refuse_keyless(call, decision))
        ancestors = _ancestors()
        if decision.is_read:
            return (yield from self._run(call, decision, ancestors))
        conversation = f"{call.proposal.tenant_id or ''}/{call.proposal.conversation_id}"
        before, end = self._order.enter(conversation, _step_name(call.proposal))
        try:
            # A write that a running write makes cannot wait for it.
            yield Pause([one for one in before if one not in ancestors])
            return (yield from self._run(call, decision, (*ancestors, end)))
        finally:
            self._order.leave(conversation, end)

    def _run(self, call: GuardedCall, decision: Allowed, ends: tuple[End, ...]) -> Steps[object]:
        may_repeat = call.has_name or decision.repeated or call.on_held == "wait"
        if may_repeat and not decision.is_read:
            unclaimed = yield from self._claim(call, decision)
            if unclaimed is not None:
                return unclaimed[0]
        if time.time() * 1_000 > decision.not_after:
            return (yield from self._refuse_late(call, decision))
        handler_call = HandlerCall(
            idempotency_key=decision.idempotency_key or "",
            decision_id=decision.decision_id,
            call_id=decision.call_id,
            tool=decision.tool,
            time_limit_ms=decision.time_limit_ms,
            turn_ends=ends,
        )
        run = Run(
            handler_call,
            lambda: call.start(decision.arguments, handler_call),
            lambda late: self._report_late(decision.decision_id, report_of(late, call.output_of)),
        )
        execution: Execution = yield Invoke(run)
        if isinstance(execution, Raised) and call.is_interrupt(execution.error):
            execution = Interrupted(execution.error)
        body = report_of(execution, call.output_of)
        yield from self._record(decision, execution, body)
        return answer_execution(decision, execution)

    def _claim(self, call: GuardedCall, decision: Allowed) -> Steps[tuple[object] | None]:
        """None: the claim is granted. Else the answer of the call, which does not run."""
        decision_id = decision.decision_id
        request = endpoints.report(decision_id, self._claims.ask(decision_id))
        try:
            outcome = yield from ask(request)
        except CallgateError as error:
            if not says_nothing(error):
                raise
            return (refuse(decision, "gate_unavailable", problem=str(error)),)
        self._claims.answered(decision_id)
        if outcome.recorded:
            return None
        return ((yield from self._answer_begun(call, decision)),)

    def _answer_begun(self, call: GuardedCall, decision: Allowed) -> Steps[object]:
        """Somebody has begun the call: its result, or a refusal while nobody can say how it ended."""
        try:
            stored = yield from ask(endpoints.get_result(decision.decision_id))
        except CallgateError as error:
            if not says_nothing(error) and error.status != 404:
                raise
            return refuse(decision, "outcome_unknown")
        return answer_stored(decision, stored)

    def _refuse_late(self, call: GuardedCall, decision: Allowed) -> Steps[object]:
        error = {"code": "too_late", "message": "not started in time"}
        yield from self._try_report(decision, build_report("not_executed", error=error))
        message = NOT_EXECUTED if call.has_name else None
        return refuse(decision, "gate_unavailable", message=message)

    def _refuse_keyless(self, call: GuardedCall, decision: Allowed) -> Steps[object]:
        if not (call.has_name or decision.repeated):
            error = {"code": "no_key", "message": "the credential of the program may not run calls"}
            yield from self._try_report(decision, build_report("not_executed", error=error))
        return refuse(decision, "gate_unavailable", message=NO_KEY)

    def _record(self, decision: Allowed, execution: Execution, body: dict[str, object]) -> Steps[None]:
        """GUARD-3"""
        try:
            yield from ask(endpoints.report(decision.decision_id, body))
        except CallgateError as error:
            if isinstance(execution, GivenUp | Interrupted):
                return
            raise CallgateError(
                "result_not_recorded",
                f"`{decision.tool}` ran, and its result could not be recorded: {error}",
                "report it, or let an operator reconcile it: the gate counts the call as under way",
                output=execution.value if isinstance(execution, Returned) else None,
                raised=execution.error if isinstance(execution, Raised) else None,
            ) from error

    def _try_report(self, decision: Allowed, body: dict[str, object]) -> Steps[None]:
        """The answer is the same without the report."""
        try:
            yield from ask(endpoints.report(decision.decision_id, body))
        except CallgateError:
            return


def _ancestors() -> tuple[End, ...]:
    outer = current_call()
    return () if outer is None else outer.turn_ends


def _step_name(proposal: models.Proposal) -> str | None:
    return None if proposal.step is None else f"{proposal.turn!r}/{proposal.step!r}"


def refuse(
    decision: Allowed,
    reason: Any,
    *,
    message: str | None = None,
    problem: str | None = None,
) -> Refused:
    """Refuses an allowed call that does not run (again)."""
    refusal = client_refusal(
        reason,
        decision.call_id,
        decision.tool,
        decision.arguments,
        decision_id=decision.decision_id,
        policy=decision.policy_revision,
        message=message,
        detail="timeout" if reason == "gate_unavailable" else None,
        problem=problem,
    )
    return refused_of(decision, refusal)


def answer_execution(decision: Allowed, execution: Execution) -> object:
    if isinstance(execution, Returned):
        return execution.value
    if isinstance(execution, Raised | Interrupted):
        raise execution.error
    if execution.reason is not None:
        raise execution.reason
    raise CallgateError(
        "time_limit",
        f"`{decision.tool}` ran longer than its {decision.time_limit_ms:.0f} ms and was given up: "
        "whether it took effect is unknown",
        "set `time_limit_ms` of the tool in the policy if it needs more",
    ) from execution.cause


def answer_stored(decision: Allowed, stored: models.StoredResult) -> object:
    """Answers a call that ended before, with what the journal has of it."""
    if stored.status == "not_executed":
        refused = refuse(decision, "gate_unavailable", message=NOT_EXECUTED)
        return replace(refused, is_over=True)
    if stored.status in ("unknown", "started"):
        return refuse(decision, "outcome_unknown")
    has_output = "output" in stored.model_fields_set
    if stored.whole and (stored.status == "succeeded" or has_output):
        return EarlierOutput(stored.output, None)
    if stored.status == "failed":
        raise _failure_of(stored)
    return refuse(decision, "duplicate_call")


def _failure_of(stored: models.StoredResult) -> BaseException:
    """The exception that the function raised, as far as the journal has it."""
    said = stored.error
    message = (
        "the call failed earlier, and its error was not reported" if said is None else said.message
    )
    code = None if said is None else said.code
    error = RuntimeError(message)
    if code is not None:
        error.code = code  # type: ignore[attr-defined]
    return no_effect(error) if stored.effect == "none" else error
