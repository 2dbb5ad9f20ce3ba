"""What the documentation names exists: commands with their options, settings, files, make targets."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from rag_pipeline.cli import app
from rag_pipeline.errors import FailureCategory
from rag_pipeline.settings import Settings, described

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", PROJECT / "manifests/README.md", *sorted((PROJECT / "docs").glob("*.md"))]
TEXTS = {page.relative_to(PROJECT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
EVERYTHING = "\n".join(TEXTS.values())


def commands() -> set[str]:
    blocks = re.findall(r"```bash\n(.*?)```", EVERYTHING, re.DOTALL)
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`(?:\.venv/bin/)?(rag-pipeline [^`\n]*)`", EVERYTHING)
    return {line for line in [*lines, *inline] if line.startswith("rag-pipeline")}


@pytest.mark.parametrize("line", sorted(commands()))
def test_commands_are_accepted_by_the_command_line(line: str) -> None:
    command = typer.main.get_command(app)
    words = shlex.split(line)[1:]
    while below := getattr(command, "commands", {}):
        if words and words[0] in below:
            command = below[words.pop(0)]
        elif "run" in below:  # `eval [SET…]` is `eval run [SET…]`
            command = below["run"]
        else:
            assert not words or words[0].startswith("-"), line
            break
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options


def test_settings_exist() -> None:
    known = {variable for variable, _, _ in described(Settings())} | {"RAG_TEST_DATA"}
    assert set(re.findall(r"\bRAG_[A-Z_]+[A-Z]", EVERYTHING)) <= known


def test_categories_of_dead_letters_are_explained() -> None:
    explained = set(re.findall(r"`([a-z_]+)`", TEXTS["docs/operations.md"]))
    transient = {"unreadable", "changed_while_reading", "worker_died", "chunking_failed"}
    assert {category.value for category in FailureCategory} - transient <= explained


def test_links_lead_somewhere() -> None:
    for name, text in TEXTS.items():
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert "://" in target or (PROJECT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", EVERYTHING, re.MULTILINE)) <= targets
