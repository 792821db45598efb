"""The wheel as a user installs it, the lines of the README, the types, and the generated models."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callgate.decisions import MODEL_TEXTS
from gate_server import GateServer

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = ROOT.parents[1]

FUNCTION = """
def charge_card(order_id: str) -> dict[str, str]:
    return {"receipt": f"order {order_id}"}

"""


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    output: str = done.stdout
    return output


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    [path] = folder.glob("callgate-*.whl")
    return path


def code_blocks(page: Path, language: str) -> list[str]:
    parts = page.read_text().split(f"```{language}\n")
    return [part.split("```")[0] for part in parts[1:]]


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "callgate/py.typed" in names and "callgate/models.py" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"callgate"}
    assert not [name for name in names if name.endswith((".so", ".pyd"))]
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_lines_of_the_readme_run_in_a_new_environment(
    wheel: Path, server: GateServer, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    quiet = ("--quiet", "--disable-pip-version-check", "--prefer-binary", "--no-compile")
    run(sys.executable, "-m", "pip", "--python", python, "install", *quiet, wheel)
    [lines] = code_blocks(ROOT / "README.md", "python")
    assert len(lines.strip().splitlines()) == 5
    (tmp_path / "program.py").write_text(FUNCTION + lines)
    env = {**os.environ, "CALLGATE_URL": server.url}
    env.pop("PYTHONPATH", None)
    printed = run(python, "program.py", cwd=tmp_path, env=env).splitlines()
    [expected] = code_blocks(ROOT / "README.md", "text")
    ran, refused = expected.splitlines()
    assert printed[0] == ran
    assert printed[1].startswith(refused.rstrip("…").strip())


def test_the_code_of_the_guide_can_be_read_and_its_beginning_runs(
    server: GateServer, capsys: pytest.CaptureFixture[str], conversation: str
) -> None:
    blocks = code_blocks(REPOSITORY / "docs" / "python.md", "python")
    assert len(blocks) > 8
    for block in blocks:
        ast.parse(block)
    program = blocks[0].replace("http://127.0.0.1:8181", server.url).replace("chat-42", conversation)
    names: dict[str, Any] = {}
    exec(compile(program, "docs/python.md", "exec"), names)
    names["gate"].close()
    assert capsys.readouterr().out == "{'receipt': 'order 7: 100.00'}\n"


def test_the_types_hold() -> None:
    run(sys.executable, "-m", "mypy", cwd=ROOT)
    run(sys.executable, "-m", "mypy", "--strict", "tests/typed_program.py", cwd=ROOT)


def test_the_code_is_formatted_and_clean() -> None:
    run(sys.executable, "-m", "ruff", "check", ".", cwd=ROOT)
    run(sys.executable, "-m", "ruff", "format", "--check", ".", cwd=ROOT)


def test_the_generated_models_are_those_of_the_server(server: GateServer, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(httpx2.get(f"{server.url}/openapi.json", trust_env=False).text)
    run(sys.executable, ROOT / "tasks" / "generate_models.py", "--check", document)


def test_the_texts_for_models_are_those_of_the_gate() -> None:
    reasons = json.loads((REPOSITORY / "schemas" / "reasons.json").read_text())["reasons"]
    published = {one["code"]: one["model"] for one in reasons}
    assert {code: published[code] for code in MODEL_TEXTS} == dict(MODEL_TEXTS)
