"""The bodies and answers of the HTTP API. Generated from `/openapi.json`: do not edit.

Members have the names of the API in snake case: `decisionId` is `decision_id`.
"""

from __future__ import annotations
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing import Annotated, Any, Literal


class Warning(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    reason: str
    message: str


class PreviousCall(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    call_id: Annotated[str, Field(alias="callId")]
    decision_id: Annotated[str, Field(alias="decisionId")]
    tool: str
    at_ms: Annotated[float, Field(alias="atMs")]
    """
    Unix time in ms
    """

    status: Literal[
        "in_flight", "held", "succeeded", "failed", "not_executed", "unknown"
    ]


class PreviousResult(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    inline: str | None
    """
    the output, where all of it is stored
    """

    ref: str
    """
    GET /v1/results/{ref} has the result
    """

    digest: str | None
    bytes: float


class Conflict(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    resource: str
    path: list[str]


class Resolution(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    type: Literal["retry_after", "approval", "confirmation", "new_turn", "none"]
    retry_after_ms: Annotated[float | None, Field(alias="retryAfterMs")]
    approval_id: Annotated[str | None, Field(alias="approvalId")]


class ArgumentProblem(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    path: str
    message: str


class EarlierResult(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    ref: str
    tool: str
    at_ms: Annotated[float, Field(alias="atMs")]
    """
    Unix time in ms
    """

    digest: str | None


class Money(BaseModel):
    """
    only with a token of a platform; otherwise it comes from the token
    """

    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    micro_units: Annotated[int, Field(alias="microUnits")]
    """
    millionths of the currency's unit
    """

    currency: str


class ReportOutcome(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    recorded: bool
    status: (
        Literal["started", "succeeded", "failed", "not_executed", "unknown"] | None
    ) = None
    why: Literal["unknown_call", "already_reported", "wrong_call"] | None = None


class Error(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    message: str
    code: str | None = None
    retryable: bool | None = None


class Report(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    status: Literal["started", "succeeded", "failed", "not_executed", "unknown"]
    effect: Literal["none", "possible"] | None = None
    """
    of a failed call: `none` if it certainly took no effect
    """

    output: Any | None = None
    whole: bool | None = None
    """
    false: JSON cannot represent all of what was returned
    """

    basis: Literal["reported", "returned"] | None = None
    """
    `returned`: a handler returned it, so error patterns of the policy apply
    """

    by: str | None = None
    """
    of `started`: the one who claims the call. The same name again gets the same answer, another one `already_reported`
    """

    error: Error | None = None
    duration_ms: Annotated[float | None, Field(alias="durationMs")] = None
    cost: Money | None = None


class CallError(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    code: str | None
    message: str
    retryable: bool | None


class FurtherCalls(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    of: str
    not_of: Annotated[list[str], Field(alias="notOf")]


class EarlierCall(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    decision_id: Annotated[str, Field(alias="decisionId")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    outcome: Literal["allowed", "refused", "held"]
    reason: str | None
    arguments: dict[str, Any] | None
    at: float
    """
    Unix time in ms
    """


class RulingOutcome(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    taken: bool
    why: str | None = None


class Execution(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    execution_id: Annotated[str, Field(alias="executionId")]
    decision_id: Annotated[str, Field(alias="decisionId")]
    call_id: Annotated[str, Field(alias="callId")]
    conversation_id: Annotated[str, Field(alias="conversationId")]
    tenant_id: Annotated[str, Field(alias="tenantId")]
    tool: str
    is_read: Annotated[bool, Field(alias="isRead")]
    arguments: dict[str, Any]
    idempotency_key: Annotated[str, Field(alias="idempotencyKey")]
    """
    send it to what the tool calls: retries have the same one
    """

    not_after: Annotated[float, Field(alias="notAfter")]
    """
    do not begin the call later (Unix time in ms)
    """

    time_limit_ms: Annotated[float, Field(alias="timeLimitMs")]
    """
    stop waiting for the tool after this time
    """

    lease_expires_at: Annotated[float, Field(alias="leaseExpiresAt")]
    """
    Unix time in ms
    """


class Lease(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    execution_id: Annotated[str, Field(alias="executionId")]
    lease_expires_at: Annotated[float, Field(alias="leaseExpiresAt")]
    """
    Unix time in ms
    """


class AllowedDecision(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    outcome: Literal["allowed"]
    decision_id: Annotated[str, Field(alias="decisionId")]
    policy_revision: Annotated[str, Field(alias="policyRevision")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    is_read: Annotated[bool, Field(alias="isRead")]
    repeated: bool
    """
    the same proposal was decided before: this is that decision
    """

    warnings: list[Warning]
    arguments: dict[str, Any]
    idempotency_key: Annotated[str | None, Field(alias="idempotencyKey")] = None
    """
    send it to what the tool calls; absent where the token may not run calls
    """

    not_after: Annotated[float, Field(alias="notAfter")]
    """
    Unix time in ms
    """

    time_limit_ms: Annotated[float, Field(alias="timeLimitMs")]


class Refusal(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    schema_version: Annotated[Literal[1], Field(alias="schemaVersion")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    arguments: str
    """
    the beginning of the arguments
    """

    decision_id: Annotated[str | None, Field(alias="decisionId")] = None
    policy: str
    """
    revision of the policy that decided
    """

    reason: str
    message: str
    """
    what to tell the model
    """

    user_message: Annotated[str | None, Field(alias="userMessage")]
    """
    what to tell the user
    """

    rule: str
    """
    the rule of the policy that decided
    """

    duplicate: bool
    note: str | None
    level: float
    count: float
    retryable: bool
    disposition: Literal[
        "use_previous_result", "change_approach", "wait", "ask_user", "stop"
    ]
    previous_call: Annotated[PreviousCall | None, Field(alias="previousCall")]
    previous_result: Annotated[PreviousResult | None, Field(alias="previousResult")]
    conflict: Conflict | None
    resolution: Resolution
    suggested_next: Annotated[list[str], Field(alias="suggestedNext")]
    problems: list[ArgumentProblem]
    earlier_results: Annotated[
        list[EarlierResult] | None, Field(alias="earlierResults")
    ]
    detail: (
        Literal["restoring", "not_owner", "no_policy", "timeout", "closed"] | None
    ) = None
    problem: str | None = None


class HeldDecision(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    outcome: Literal["held"]
    decision_id: Annotated[str, Field(alias="decisionId")]
    policy_revision: Annotated[str, Field(alias="policyRevision")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    is_read: Annotated[bool, Field(alias="isRead")]
    repeated: bool
    """
    the same proposal was decided before: this is that decision
    """

    warnings: list[Warning]
    arguments: dict[str, Any] | None
    refusal: Refusal
    approval_id: Annotated[str, Field(alias="approvalId")]
    expires_at: Annotated[float, Field(alias="expiresAt")]
    """
    Unix time in ms
    """


class Proposal(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    conversation_id: Annotated[str, Field(alias="conversationId")]
    call_id: Annotated[str | None, Field(alias="callId")] = None
    """
    the model's id of the call; the same id gets the same decision
    """

    tool: str
    arguments: dict[str, Any] | str
    """
    an object, or the JSON text that the model wrote
    """

    step: str | int | None = None
    """
    one message of the model
    """

    turn: str | int | None = None
    """
    one message of the user; only with a token of a platform; otherwise it comes from the token
    """

    tenant_id: Annotated[str | None, Field(alias="tenantId")] = None
    """
    only with a token of a platform; otherwise it comes from the token
    """

    agent_id: Annotated[str | None, Field(alias="agentId")] = None
    """
    only with a token of a platform; otherwise it comes from the token
    """

    confirmation: str | None = None
    """
    id of a user's confirmation; only with a token of a platform; otherwise it comes from the token
    """

    estimated_cost: Annotated[Money | None, Field(alias="estimatedCost")] = None
    assistant_text: Annotated[str | None, Field(alias="assistantText")] = None
    """
    what the model said
    """

    approval_id: Annotated[str | None, Field(alias="approvalId")] = None
    """
    the approval of a held call that is proposed again
    """


class StoredResult(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    decision_id: Annotated[str, Field(alias="decisionId")]
    status: Literal["started", "succeeded", "failed", "not_executed", "unknown"]
    effect: Literal["none", "possible"] | None
    error: CallError | None
    output: Any | None = None
    whole: bool
    """
    false: only the beginning was stored
    """

    bytes: float
    digest: str | None


class PendingCall(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    approval_id: Annotated[str, Field(alias="approvalId")]
    decision_id: Annotated[str, Field(alias="decisionId")]
    tenant_id: Annotated[str, Field(alias="tenantId")]
    conversation_id: Annotated[str, Field(alias="conversationId")]
    agent_id: Annotated[str | None, Field(alias="agentId")]
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    arguments: dict[str, Any]
    held_at: Annotated[float, Field(alias="heldAt")]
    """
    Unix time in ms
    """

    expires_at: Annotated[float, Field(alias="expiresAt")]
    """
    Unix time in ms
    """

    message: str
    rule: str
    require_reason: Annotated[bool, Field(alias="requireReason")]
    approvals: float
    """
    how many people must approve
    """

    approved_by: Annotated[list[str], Field(alias="approvedBy")]
    further: FurtherCalls


class Executions(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    executions: list[Execution]


class RefusedDecision(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    outcome: Literal["refused"]
    decision_id: Annotated[str | None, Field(alias="decisionId")] = None
    policy_revision: Annotated[str | None, Field(alias="policyRevision")] = None
    call_id: Annotated[str, Field(alias="callId")]
    tool: str
    is_read: Annotated[bool, Field(alias="isRead")]
    repeated: bool
    """
    the same proposal was decided before: this is that decision
    """

    warnings: list[Warning]
    arguments: dict[str, Any] | None
    answered: bool
    """
    `refusal.previousResult` is the answer to a repeated read
    """

    refusal: Refusal


class PendingCalls(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    approvals: list[PendingCall]


class ShownApproval(PendingCall):
    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        use_attribute_docstrings=True,
    )
    state: Literal["waiting", "allowed", "refused", "held_anew"]
    decision: AllowedDecision | RefusedDecision | HeldDecision | None
    """
    the decision that ended the hold
    """

    conversation: list[EarlierCall]
    """
    the latest calls of the conversation before it, the oldest first
    """


class Decision(RootModel[AllowedDecision | RefusedDecision | HeldDecision]):
    root: Annotated[
        AllowedDecision | RefusedDecision | HeldDecision, Field(discriminator="outcome")
    ]
