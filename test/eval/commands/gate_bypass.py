"""Runs gate-bypass-bench (agentguard-eval) with a gate that a program at the other end of the pipes is.

Writes one JSON text a line: a command to be judged, in the end the scores as an object. Reads ALLOW or
DENY, one a line. Whether a command has its forbidden effect is found out by running it in a directory of
its own.
"""

import json
import sys

from agentguard.shell import Gate, make_gates, run_bench


def ask(command):
    print(json.dumps(command), flush=True)
    return sys.stdin.readline().strip()


report = run_bench(gates=[Gate("callgate", "the policy beside this file", ask), *make_gates()])
print(
    json.dumps(
        {
            "scores": [
                {"gate": s.gate, "effective": s.effective_commands, "bypasses": s.bypasses}
                for s in report.scores
            ],
            "landed": [c.command for c in report.cells if c.gate == "callgate" and c.bypass],
        }
    ),
    flush=True,
)
