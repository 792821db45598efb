"""Writes src/callgate/models.py from the `/openapi.json` of a server.

python tasks/generate_models.py openapi.json            # writes the file
python tasks/generate_models.py --check openapi.json    # exit code 1 if the file is not current
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
MODELS = HERE / "src" / "callgate" / "models.py"
HEADER = '''"""The bodies and answers of the HTTP API. Generated from `/openapi.json`: do not edit.

Members have the names of the API in snake case: `decisionId` is `decision_id`.
"""
'''
CLOSED_LIST_MAX = 10
"""A longer list of words, such as the reason codes, may grow, and no client must fail over that."""
CHECKED_THERE = {"minLength", "maxLength", "minimum", "maximum", "examples", "example"}
"""The server checks these, and says what is wrong."""
USED = [
    "Decision",
    "Proposal",
    "Report",
    "ReportOutcome",
    "StoredResult",
    "PendingCalls",
    "ShownApproval",
    "RulingOutcome",
    "Executions",
    "Lease",
]
"""What this client sends and reads; what they refer to comes with them."""
REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')
OPTIONS = [
    "--input-file-type=openapi",
    "--output-model-type=pydantic_v2.BaseModel",
    "--target-python-version=3.10",
    "--snake-case-field",
    "--allow-population-by-field-name",
    "--use-standard-collections",
    "--use-union-operator",
    "--enum-field-as-literal=all",
    "--use-annotated",
    "--use-schema-description",
    "--use-field-description",
    "--use-inline-field-description",
    "--use-attribute-docstrings",
    "--extra-fields=allow",
    "--disable-timestamp",
    "--collapse-root-models",
    "--formatters",
    "builtin",
    "--formatters=ruff-format",
]


def simplify(schema: Any) -> Any:
    """Opens long lists of words, and makes one object of a union of objects without a name."""
    if isinstance(schema, list):
        return [simplify(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    simple = {name: simplify(value) for name, value in schema.items() if name not in CHECKED_THERE}
    if len(simple.get("enum", [])) > CLOSED_LIST_MAX:
        del simple["enum"]
    whole = [part for part in simple.get("allOf", []) if set(part) - {"description"}]
    if len(whole) == 1 and "$ref" in whole[0]:
        return whole[0]
    parts = simple.get("anyOf", [])
    return merge(parts) if len(parts) > 1 and all(map(is_object, parts)) else simple


def is_object(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "properties" in schema


def merge(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Members that some of the parts lack are optional; words of one member are joined."""
    properties: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, member in part["properties"].items():
            before = properties.get(name)
            if before is not None and before != member:
                member = {name: value for name, value in member.items() if name != "enum"}
            properties[name] = member
    required = set.intersection(*(set(part.get("required", [])) for part in parts))
    return {"type": "object", "properties": properties, "required": sorted(required)}


def closure(components: dict[str, Any]) -> dict[str, Any]:
    """The used schemas and those that they refer to, in the order of the document."""
    wanted, ahead = set(USED), list(USED)
    while ahead:
        new = set(REFERENCE.findall(json.dumps(components[ahead.pop()]))) - wanted
        wanted |= new
        ahead.extend(new)
    return {name: components[name] for name in components if name in wanted}


def generate(document: dict[str, Any]) -> str:
    components = document["components"]["schemas"]
    schemas = simplify(closure(components))
    empty = {"openapi": "3.1.0", "info": {"title": "Callgate", "version": "1"}, "paths": {}}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "openapi.json", Path(folder) / "models.py"
        source.write_text(json.dumps({**empty, "components": {"schemas": schemas}}))
        command = [sys.executable, "-m", "datamodel_code_generator"]
        options = [f"--input={source}", f"--output={target}", *OPTIONS]
        subprocess.run([*command, *options], check=True)
        lines = target.read_text().splitlines(keepends=True)
    code = [line for line in lines if not line.startswith("#")]
    return HEADER + "".join(code).rstrip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = generate(json.loads(options.document.read_text()))
    if not options.check:
        MODELS.write_text(text)
        return 0
    if MODELS.read_text() == text:
        return 0
    print(f"{MODELS.relative_to(HERE)} is not current: generate it again", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
