"""Starts `callgate serve` as a user does, and makes tokens for it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
COMMAND = os.environ.get("CALLGATE_COMMAND") or str(HERE.parents[2] / "bin" / "callgate.js")
POLICY = HERE / "policy.yaml"
URL = re.compile(r"http://[\w.]+:\d+")
START_SECONDS = 60


@dataclass
class GateServer:
    """One server with a data directory of its own. It can be killed and started again."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="callgate-py-")))
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self, port: int = 0) -> GateServer:
        options = ["--policy", str(POLICY), "--data-dir", str(self.folder)]
        with (self.folder / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                ["node", COMMAND, "serve", *options, "--listen", f"127.0.0.1:{port}"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = URL.search(line)
        if match is None:
            self.stop()
            raise RuntimeError(f"no server: {line}{(self.folder / 'serve.log').read_text()}")
        self.url = match[0]
        return self

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def token(self, name: str, *options: str) -> str:
        """A new access token, as `callgate token create` makes it."""
        made = subprocess.run(
            [
                "node",
                COMMAND,
                "token",
                "create",
                "--data-dir",
                str(self.folder),
                "--name",
                name,
                *options,
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        match = re.search(r"cg_\S+", made.stdout)
        assert match is not None, made.stdout
        return match[0]

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        process.wait(timeout=START_SECONDS)
        if process.stdout is not None:
            process.stdout.close()
