"""A proxy before a real gate that loses answers and makes up its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

Answer = tuple[int, dict[str, str], bytes]
Fault = Callable[[str, str], Answer | str | None]
"""Of method and path: an answer of its own, `lose` (the gate's answer is lost), `refuse`, or None."""


class FaultyProxy:
    def __init__(self, target: str) -> None:
        self.fault: Fault = lambda method, path: None
        self.requests: list[tuple[str, str, bytes]] = []
        proxy = self
        http = httpx2.Client(base_url=target, trust_env=False)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                proxy.requests.append((self.command, self.path, body))
                fault = proxy.fault(self.command, self.path)
                if isinstance(fault, tuple):
                    self._answer(*fault)
                    return
                if fault == "refuse":
                    self.close_connection = True
                    return
                headers = {
                    name: value for name, value in self.headers.items() if name.lower() != "host"
                }
                response = http.request(self.command, self.path, content=body, headers=headers)
                if fault == "lose":
                    self.close_connection = True
                    return
                kind = {"content-type": response.headers["content-type"]}
                self._answer(response.status_code, kind, response.content)

            do_GET = do_POST  # noqa: N815

            def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self._http = http
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._http.close()

    def bodies(self, path_end: str) -> list[bytes]:
        return [body for _, path, body in self.requests if path.endswith(path_end)]


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()


def first(times: int, path_end: str, fault: Answer | str) -> Fault:
    """The fault for the first requests of a path."""
    left = [times]

    def decide(_: str, path: str) -> Answer | str | None:
        if not path.endswith(path_end) or left[0] == 0:
            return None
        left[0] -= 1
        return fault

    return decide
