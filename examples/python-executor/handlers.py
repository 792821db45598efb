"""Handlers of the executor beside this file: one function for each tool, (arguments, call) -> result.

A handler passes `call["idempotencyKey"]` on to the service that it calls. It raises `NoEffect` only
when it knows that nothing happened; any other error may have taken effect.
"""

import json
import os
import urllib.error
import urllib.request


class NoEffect(Exception):
    """The call certainly took no effect."""


def conformance_effect(arguments, call):
    """Posts the call to the tool of `callgate conformance executor`; yours call the real service."""
    body = {name: call[name] for name in ("decisionId", "idempotencyKey")} | {"arguments": arguments}
    headers = {"content-type": "application/json", call["header"]: call["idempotencyKey"]}
    url = os.environ["CALLGATE_CONFORMANCE_URL"]
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if 400 <= error.code < 500 and error.code not in (408, 409, 425):
            raise NoEffect(f"HTTP {error.code}") from error
        raise


HANDLERS = {"conformance_effect": conformance_effect}
