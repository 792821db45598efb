"""A worker as a process of its own: its tool writes what it did into a file.

python worker_program.py URL TOKEN FILE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from callgate import Callgate, HandlerCall

url, token, file = sys.argv[1:]
effects = Path(file)


def note(text: str) -> None:
    with effects.open("a") as out:
        out.write(f"{text}\n")


def save(call: HandlerCall, name: str) -> str:
    note(f"begin {name} {call.idempotency_key}")
    if name.startswith("long"):
        time.sleep(2)
    if name.startswith("endless"):
        time.sleep(600)
    note(f"end {name}")
    return f"saved {name}"


note("ready")
Callgate(url, token).serve_tools({"save": save}, wait=0.2, lease_seconds=1, shutdown_seconds=20)
note("stopped")
