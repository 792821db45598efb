from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from callgate import AsyncCallgate, Callgate
from gate_server import GateServer


@pytest.fixture(scope="session")
def server() -> Iterator[GateServer]:
    server = GateServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def platform_token(server: GateServer) -> str:
    return server.token(
        "platform", "--role", "propose", "--role", "execute", "--role", "read", "--platform"
    )


@pytest.fixture(scope="session")
def approver_token(server: GateServer) -> str:
    return server.token("ann", "--role", "approve", "--role", "read")


@pytest.fixture
def conversation() -> str:
    """A conversation of the test's own."""
    return f"c-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def gate(server: GateServer, platform_token: str, conversation: str) -> Iterator[Callgate]:
    """A client inside of the test's conversation."""
    with Callgate(server.url, platform_token) as gate, gate.conversation(conversation):
        yield gate


@pytest.fixture
async def async_gate(server: GateServer, platform_token: str) -> AsyncIterator[AsyncCallgate]:
    async with AsyncCallgate(server.url, platform_token) as gate:
        yield gate


@pytest.fixture
def approver(server: GateServer, approver_token: str) -> Iterator[Callgate]:
    with Callgate(server.url, approver_token) as gate:
        yield gate
