"""What both clients share: where the gate is, the credential, and the time limits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import httpx2

from .errors import invalid_input
from .http_request import HttpRequest

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
DEFAULT_URL = "http://127.0.0.1:8181"
POOL = httpx2.Limits(max_connections=256, max_keepalive_connections=64)


def _version() -> str:
    try:
        return version("callgate")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True)
class Connection:
    url: str
    token: str | None
    timeout: float
    retries: int

    @classmethod
    def create(cls, url: str | None, token: str | None, timeout: float, retries: int) -> Connection:
        """Raises `CallgateError` `invalid_input`."""
        address = url or os.environ.get("CALLGATE_URL") or DEFAULT_URL
        parsed = httpx2.URL(address)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise invalid_input(f"`{address}` is no URL of a gate", f"write it as {DEFAULT_URL}")
        if timeout <= 0 or retries < 0:
            raise invalid_input("`timeout` must be above 0, and `retries` at least 0")
        key = token or os.environ.get("CALLGATE_TOKEN") or None
        return cls(address.rstrip("/"), key, timeout, retries)

    def client_options(self) -> dict[str, Any]:
        """Options of the HTTP client. A gate on this machine is never asked through a proxy."""
        headers = {"user-agent": f"callgate-python/{_version()}", "accept": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        return {
            "base_url": self.url,
            "headers": headers,
            "limits": POOL,
            "timeout": self.timeout,
            "follow_redirects": False,
            "trust_env": httpx2.URL(self.url).host not in LOOPBACK,
        }

    def time_for(self, request: HttpRequest[Any]) -> float:
        return self.timeout + request.wait
