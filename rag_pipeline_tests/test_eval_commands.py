"""`rag-pipeline eval` as scripts and people use it: exit codes, files, and what is said."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline_tests.command_runs import Run, commands_of
from rag_pipeline_tests.evaluated import cases, copy_of_indexed, write_set
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    base = copy_of_indexed(tmp_path_factory)
    yield base
    base.services.close()


@pytest.fixture
def run(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    write_set(base)
    with commands_of(base, monkeypatch, capsys) as run_command:
        yield run_command


def test_gates_that_hold_end_with_0_and_write_what_was_asked_for(run: Run, tmp_path: Path) -> None:
    page, rows = tmp_path / "page.html", tmp_path / "rows.jsonl"
    result = run("eval", "--html", str(page), "--export", str(rows))
    assert result.returncode == 0, result.stderr
    assert result.stdout.rstrip().splitlines()[-1].startswith("Passed")
    assert "Within how many days" in page.read_text()
    exported = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(exported) == len(cases())
    assert {"user_input", "response", "retrieved_contexts", "reference"} <= exported[0].keys()


def test_a_broken_gate_ends_with_1_and_says_which_case_and_why(base: KnowledgeBase, run: Run) -> None:
    write_set(base, [*cases(), {**cases()[0], "id": "wrong", "values": ["14 days"]}])
    result = run("eval", "small")
    assert result.returncode == 1
    assert "small/wrong" in result.stdout
    assert "the answer does not say the value 14 days" in result.stdout
    assert result.stdout.rstrip().splitlines()[-1].startswith("Failed")


def test_json_can_be_compared_with_later(base: KnowledgeBase, run: Run, tmp_path: Path) -> None:
    first = run("eval", "run", "--json")
    assert first.returncode == 0
    before = tmp_path / "before.json"
    before.write_text(first.stdout)
    assert json.loads(first.stdout)["slices"][0]["n"] == len(cases())
    write_set(base, [{**cases()[0], "expect": "no_evidence", "values": [], "quotes": []}, *cases()[1:]])
    result = run("eval", "--baseline", str(before))
    assert "1 worse" in result.stdout
    assert "worse small/return" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eval", "nothing"], "nothing.yaml cannot be read"),
        (["eval", "--against", "knowledge_9"], "There is no generation knowledge_9"),
        (["eval", "--baseline", "/nowhere.json"], "The baseline /nowhere.json cannot be read"),
        (["eval", "explain", "retrun"], "did you mean return?"),
        (["eval", "check", "nothing"], "nothing.yaml cannot be read"),
        (["eval", "check", "elsewhere/set.yml"], "elsewhere/set.yml cannot be read"),
        (["eval", "--html", "."], ". cannot be written: it is a folder"),
        (["eval", "calibrate", "small", "--forget"], "take no set"),
        (["eval", "import", "rows.csv", "--name", "a/b"], "use letters, digits"),
        (["eval", "import", "rows.csv", "--name", "explain"], "a command or the file of the gates is"),
        (["eval", "import", "rows.csv", "--name", "gates"], "a command or the file of the gates is"),
        (["eval", "import", "rows.csv", "--name", "ours", "--source", "pages"], "are for SQuAD's paragraphs"),
    ],
)
def test_what_cannot_be_used_ends_with_2(run: Run, words: list[str], said: str) -> None:
    result = run(*words)
    assert result.returncode == 2
    assert said in result.stderr


def test_a_set_that_is_wrong_is_told_by_file_and_field(base: KnowledgeBase, run: Run) -> None:
    write_set(base, [{**cases()[0], "category": "anything"}])
    result = run("eval")
    assert result.returncode == 2
    assert "small.yaml: cases.0.category" in result.stderr


def test_check_names_gold_that_no_longer_stands(base: KnowledgeBase, run: Run) -> None:
    assert run("eval", "check").returncode == 0
    quote = {"document": "policy/refunds.md", "text": "within 31 days"}
    write_set(base, [{**cases()[0], "quotes": [quote]}])
    result = run("eval", "check")
    assert result.returncode == 1
    assert "small/return: “within 31 days” of policy/refunds.md" in result.stdout
    assert "1 of 1 cases are invalid" in result.stdout


def test_explain_walks_to_the_citation(base: KnowledgeBase, run: Run, tmp_path: Path) -> None:
    result = run("eval", "explain", "small/return")
    assert result.returncode == 0, result.stderr
    assert "policy/refunds.md cited" in result.stdout
    elsewhere = tmp_path / "elsewhere.yaml"
    shutil.copy(base.settings.evaluations_folder / "small.yaml", elsewhere)
    assert run("eval", "explain", "elsewhere/return", "--set", str(elsewhere)).returncode == 0
    [found] = json.loads(run("eval", "explain", "return", "--json").stdout)["explanations"]
    assert found["document"] == "policy/refunds.md"


def test_too_few_questions_are_not_fitted(run: Run, tmp_path: Path) -> None:
    result = run("eval", "calibrate", "--output", str(tmp_path))
    assert result.returncode == 2
    assert "too small to fit anything" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert "None was stored" in run("eval", "calibrate", "--forget").stdout


def test_questions_of_others_become_a_set(base: KnowledgeBase, run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "question,ground_truth,contexts\n"
        "How much does return postage cost?,6.50 EUR,"
        "Return postage costs 6.50 EUR unless the item arrived faulty.\n"
    )
    result = run("eval", "import", str(rows), "--name", "imported", "--groups", "support")
    assert result.returncode == 0, result.stderr
    assert "1 cases are in" in result.stdout
    asked = run("eval", "imported", "--json", "--no-lifecycle")
    assert json.loads(asked.stdout)["slices"][0]["passed"] == 1
    (base.folder / "manifests" / "evaluations" / "imported.yaml").unlink()
