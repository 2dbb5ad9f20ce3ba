"""Other people's questions become question sets, and results go back to them in their columns."""

import ast
import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.evaluation.case import Case, Category, QuestionSet, Quote
from rag_pipeline.evaluation.exporting import export_results
from rag_pipeline.evaluation.importing.imported import write_imported, write_set
from rag_pipeline.evaluation.importing.ragas import read_ragas
from rag_pipeline.evaluation.importing.squad import read_squad
from rag_pipeline.evaluation.question_sets import NamedSet, load_sets
from rag_pipeline.evaluation.quotes import find_quote, holds_quote
from rag_pipeline.evaluation.result import CaseResult, Evaluation
from rag_pipeline.normalize.markdown.reading import convert_markdown
from rag_pipeline.query.trace import Outcome
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.sample_traces import trace_of, used_evidence

CONTEXT = "The shop opened in 1998. Hardware goes back within 30 days.  Nobody else sells lamps."
RULE = "Hardware goes back within 30 days."
DOCUMENTS = {
    "refunds/returns.md": "# Returns\n\nHardware goes back within\n30 days.\n\nFood goes back at once.",
    "refunds/postage.md": "# Postage\n\nLetters cost two euros. See the price list for parcels.",
    "support/postage.md": "# Postage\n\nLetters cost two euros. Ask at the desk.",
}


def question(**fields: Any) -> dict[str, Any]:
    answers = [{"text": "30 days", "answer_start": CONTEXT.index("30 days")}]
    return {"id": "q1", "question": "How long?", "answers": answers, "is_impossible": False} | fields


def squad(*questions: Any, title: Any = "Returns", context: Any = CONTEXT) -> dict[str, Any]:
    paragraph = {"context": context, "qas": list(questions or [question()])}
    return {"version": "v2.0", "data": [{"title": title, "paragraphs": [paragraph]}]}


def squad_file(tmp_path: Path, value: Any) -> Path:
    file = tmp_path / "questions.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def read(tmp_path: Path, value: Any) -> tuple[tuple[Case, ...], dict[str, str]]:
    found = read_squad(squad_file(tmp_path, value), source_id="faq", title="Questions", groups=["support"])
    return found.questions.cases, dict(found.documents)


def rows_file(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize(
    ("name", "cases", "impossible", "documents"),
    [("squad2.en", 2937, 1494, 334), ("xquad.en", 631, 0, 130), ("xquad.zh", 631, 0, 130)],
)
def test_real_sets_keep_their_gold_through_conversion(
    data_root: Path, name: str, cases: int, impossible: int, documents: int
) -> None:
    found = read_squad(data_root / "questions" / f"{name}.json", source_id="squad", title=name)
    assert len(found.questions.cases) == cases
    assert len(found.documents) == documents
    refused = [one for one in found.questions.cases if one.category is Category.UNANSWERABLE]
    assert len(refused) == impossible
    assert all(one.refusal for one in refused)
    texts = {
        f"squad/{path}": convert_markdown(text.encode()).markdown for path, text in found.documents.items()
    }
    answerable = [one for one in found.questions.cases if not one.refusal]
    assert all(set(one.required) < texts.keys() for one in answerable)
    quotes = [quote for one in answerable for quote in one.quotes]
    # Where annotators answered from different sentences, no sentence is the right one.
    assert len(quotes) > 0.9 * len(answerable)
    assert [quote for quote in quotes if not holds_quote(texts[quote.document], quote.text)] == []


def test_a_written_set_is_the_same_when_it_is_loaded(data_root: Path, tmp_path: Path) -> None:
    found = read_squad(data_root / "questions" / "xquad.zh.json", source_id="squad", title="XQuAD: 中文")
    write_imported(found, set_file=tmp_path / "sets" / "xquad.yaml", folder=tmp_path / "documents")
    (loaded,) = load_sets(tmp_path / "sets")
    assert loaded == NamedSet("xquad", found.questions)
    written = {
        path.relative_to(tmp_path / "documents").as_posix() for path in tmp_path.rglob("documents/**/*.md")
    }
    assert written == found.documents.keys()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3))
def test_any_text_survives_being_written(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    cases = tuple(
        Case(
            id=f"case-{number}",
            category=Category.ANSWERABLE,
            question="What?",
            expect=(Outcome.ANSWERED,),
            quotes=(Quote(document="a/b.md", text=quote),),
            must_say=(said, said),
        )
        for number, (quote, said) in enumerate(texts)
    )
    wanted = QuestionSet(title="T", cases=cases)
    file = tmp_path / "texts.yaml"
    file.unlink(missing_ok=True)
    write_set(wanted, file)
    (loaded,) = load_sets(tmp_path, ["texts"])
    assert loaded.questions == wanted


def test_what_is_written_can_be_indexed_under_the_ids_that_are_gold(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path / "base")
    base.manifest("faq")
    found = read_squad(squad_file(tmp_path, squad()), source_id="faq", title="Questions", groups=["support"])
    folder = tmp_path / "base" / "files" / "faq"
    write_imported(found, set_file=tmp_path / "faq.yaml", folder=folder)
    base.index("faq")
    (case,) = found.questions.cases
    (chunk, *_) = base.find(case.question, *case.groups)
    assert (chunk.document_id,) == case.required
    assert chunk.title == "Returns"
    assert holds_quote(chunk.text, case.quotes[0].text)


def test_gold_is_the_sentence_that_all_answers_stand_in(tmp_path: Path) -> None:
    at = CONTEXT.index("30 days")
    several = [
        {"text": "within 30 days", "answer_start": at - 7},
        {"text": "30 days", "answer_start": at},
    ]
    apart = [{"text": "1998", "answer_start": 19}, {"text": "lamps", "answer_start": CONTEXT.index("lamps")}]
    (same, other), _ = read(
        tmp_path, squad(question(answers=several), question(id="q2", answers=apart, question="What else?"))
    )
    assert [one.text for one in same.quotes] == ["Hardware goes back within 30 days."]
    assert same.must_say == ("30 days",)
    assert same.reference == "within 30 days"
    assert (other.quotes, other.must_say) == ((), ())
    assert other.required == same.required == ("faq/returns/0001.md",)


def test_an_answer_whose_place_is_wrong_is_found_nearby(tmp_path: Path) -> None:
    (case,), _ = read(tmp_path, squad(question(answers=[{"text": "30 days", "answer_start": 3}])))
    assert case.quotes[0].text == "Hardware goes back within 30 days."


def test_ids_titles_and_paragraphs_that_are_alike_stay_apart_or_become_one(tmp_path: Path) -> None:
    one, two = squad(question(id="A b")), squad(question(id="a-b"), context=f"{CONTEXT} Or so.")
    three = squad(question(id="三"), title="../../etc/passwd", context=CONTEXT)
    value = {"data": [*one["data"], *two["data"], *three["data"], *squad(question(id=7))["data"]]}
    cases, documents = read(tmp_path, value)
    assert [case.id for case in cases] == ["a-b", "a-b-2", "question", "7"]
    assert list(documents) == ["returns/0001.md", "returns-2/0001.md"]
    assert cases[0].required == cases[2].required == cases[3].required


def test_a_title_is_no_way_out_of_the_folder(tmp_path: Path) -> None:
    _, documents = read(tmp_path, squad(title="../../etc/passwd"))
    assert list(documents) == ["etc-passwd/0001.md"]
    assert list(read(tmp_path, squad(title="退货"))[1]) == ["article-1/0001.md"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("{", "Invalid JSON"),
        ("[]", "the file: Input should be an object"),
        ('{"data": 3}', "data: Input should be a valid array"),
        ("[" * 100_000, "recursion limit"),
        (squad(title=3), "data.0.title: Input should be a valid string"),
        (squad(context=None), "data.0.paragraphs.0.context: Input should be a valid string"),
        (squad(question(id="")), "data.0.paragraphs.0.qas.0.id"),
        (squad(question(), question()), "data.0.paragraphs.0.qas.1.id: 'q1' is there twice"),
        (squad(question(question="?!")), "qas.0: question: must hold at least one letter"),
        (squad(question(question="x" * 3_000)), "question: String should have at most 2000 characters"),
        (squad(question(answers=[])), "qas.0.answers: is empty though the question is not marked"),
        (squad(question(is_impossible="perhaps")), "is_impossible: Input should be a valid boolean"),
        (squad(question(answers=[{"text": "40 days", "answer_start": 0}])), "does not stand in its"),
        (squad(question(answers=[{"text": "30 days", "answer_start": -1}])), "answer_start"),
        (json.dumps(squad(question())).replace("How", "\\ud800"), "hex escape"),
        ({"data": []}, "has no case"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_by_its_fields(tmp_path: Path, value: Any, told: str) -> None:
    with pytest.raises(BadQuestionSet) as error:
        read(tmp_path, value)
    assert told in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "questions.json"))


def test_of_many_problems_a_few_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(BadQuestionSet) as error:
        read(tmp_path, squad(*(question(id=str(number), answers=[]) for number in range(1_000))))
    assert "and 995 more" in str(error.value)
    assert len(str(error.value)) < 1_000


def test_files_that_are_too_large_absent_or_no_text_are_told(tmp_path: Path) -> None:
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as out:
        out.truncate((128 << 20) + 1)
    with pytest.raises(BadQuestionSet, match="larger than 128 MiB"):
        read_squad(file, source_id="faq", title="Questions")
    with pytest.raises(BadQuestionSet, match="larger than 128 MiB"):
        read_ragas(file, {}, title="Questions")
    with pytest.raises(BadQuestionSet, match="cannot be read: No such file"):
        read_squad(tmp_path / "absent.json", source_id="faq", title="Questions")
    file.write_bytes(b'{"question": "\xff"}')
    with pytest.raises(BadQuestionSet, match="not UTF-8 text, at byte 14"):
        read_ragas(file, {}, title="Questions")
    with pytest.raises(BadQuestionSet, match=r"must end in \.csv or \.jsonl"):
        read_ragas(tmp_path / "rows.xlsx", {}, title="Questions")


def test_more_questions_than_a_set_can_hold_are_refused_early(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n" * 100_001)
    with pytest.raises(BadQuestionSet, match="has more than 100,000 rows"):
        read_ragas(file, {}, title="Rows")
    one = json.dumps(question())
    text = json.dumps(squad()).replace(one, ",".join([one] * 100_001))
    with pytest.raises(BadQuestionSet, match="has more than 100,000 questions"):
        read(tmp_path, text)


def test_nothing_is_overwritten_and_no_foreign_document_joins(tmp_path: Path) -> None:
    found = read_squad(squad_file(tmp_path, squad()), source_id="faq", title="Questions")
    folder, file = tmp_path / "documents", tmp_path / "faq.yaml"
    folder.mkdir()
    (folder / "old.md").write_text("Old.")
    with pytest.raises(BadQuestionSet, match="is not empty"):
        write_imported(found, set_file=file, folder=folder)
    assert not file.exists()
    (folder / "old.md").unlink()
    write_imported(found, set_file=file, folder=folder)
    with pytest.raises(BadQuestionSet, match="exists already"):
        write_imported(found, set_file=file, folder=tmp_path / "others")
    assert not (tmp_path / "others").exists()


def test_a_set_that_could_not_be_loaded_again_is_not_written(tmp_path: Path) -> None:
    cases = tuple(
        Case(
            id=f"case-{number}",
            category=Category.ANSWERABLE,
            question="What?",
            expect=(Outcome.ANSWERED,),
            must_say=("x" * 2_000,) * 20,
        )
        for number in range(430)
    )
    with pytest.raises(BadQuestionSet, match="430 cases take 16 MiB"):
        write_set(QuestionSet(title="Large", cases=cases), tmp_path / "large.yaml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How long?", "ground_truth": "30 days", "contexts": [RULE]},
        {"question": "How long?", "ground_truths": ["30 days"], "contexts": [RULE]},
        {"user_input": "How long?", "reference": "30 days", "reference_contexts": [RULE],
         "retrieved_contexts": ["Letters cost two euros."], "response": "A month.", "synthesizer_name": "x"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("written", ["jsonl", "csv", "csv of JSON"])
def test_every_version_of_the_columns_gives_the_same_case(
    tmp_path: Path, row: dict[str, Any], written: str
) -> None:
    if written == "jsonl":
        file = rows_file(tmp_path, row)
    else:
        file = tmp_path / "rows.csv"
        as_list = json.dumps if written == "csv of JSON" else repr
        with file.open("w", newline="", encoding="utf-8-sig") as out:
            table = csv.DictWriter(out, row.keys())
            table.writeheader()
            table.writerow({k: as_list(v) if isinstance(v, list) else v for k, v in row.items()})
    found = read_ragas(file, DOCUMENTS, title="Rows", groups=["support"])
    assert found.unplaced == ()
    (case,) = found.questions.cases
    assert case.id == "row-1"
    assert (case.question, case.reference, case.must_say) == ("How long?", "30 days", ("30 days",))
    assert case.groups == ("support",)
    assert case.required == ("refunds/returns.md",)
    assert [holds_quote(DOCUMENTS[one.document], one.text) for one in case.quotes] == [True]
    write_set(found.questions, tmp_path / "rows.yaml")
    assert load_sets(tmp_path, ["rows"])[0].questions == found.questions


def test_a_context_is_quoted_by_the_sentence_that_says_what_is_right(tmp_path: Path) -> None:
    sentence = "Whoever wants to give hardware back has 30 days to do so."
    text = f"Our shop is old. {sentence} Lamps are sold by nobody else."
    row = {"question": "How long?", "reference": "Hardware: 30 days to give it back.", "contexts": [text]}
    (case,) = read_ragas(rows_file(tmp_path, row), {"a/b.md": text}, title="Rows").questions.cases
    assert [one.text for one in case.quotes] == [sentence]
    assert case.must_say == ()


def test_every_reference_context_is_required_and_one_of_what_was_retrieved(tmp_path: Path) -> None:
    contexts = ["Hardware goes back within 30 days.", "See the price list for parcels."]
    rows = [
        {"id": "all", "user_input": "How?", "reference_contexts": contexts},
        {"id": "any", "question": "How?", "contexts": contexts},
    ]
    every, some = read_ragas(rows_file(tmp_path, *rows), DOCUMENTS, title="Rows").questions.cases
    assert (every.id, some.id) == ("all", "any")
    assert every.documents.all == ("refunds/returns.md", "refunds/postage.md")
    assert len(every.quotes) == 2
    assert some.documents.any == every.documents.all
    assert some.quotes == ()


def test_contexts_of_no_one_document_are_named(tmp_path: Path) -> None:
    rows = [
        {"question": "A?", "reference_contexts": ["Nobody ever wrote this \ud800 down anywhere."]},
        {"question": "B?", "reference_contexts": ["Letters cost two euros."], "reference": "two euros"},
        {"question": "C?", "reference": "As is said in many words here."},
    ]
    found = read_ragas(rows_file(tmp_path, *rows), DOCUMENTS, title="Rows")
    nowhere, twice = found.unplaced
    assert (nowhere.place, nowhere.context) == ("line 1", 1)
    assert nowhere.reason == "it stands in no document that is indexed"
    assert nowhere.beginning.startswith("Nobody ever wrote this ? down")
    assert twice.place == "line 2"
    assert twice.reason == "it stands in 2 documents: refunds/postage.md, support/postage.md"
    first, second, third = found.questions.cases
    assert first.required == ()
    assert second.documents.any == ("refunds/postage.md", "support/postage.md")
    assert (second.quotes, second.must_say) == ((), ("two euros",))
    assert (third.required, third.must_say) == ((), ())
    assert third.reference == "As is said in many words here."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1: is not JSON"),
        ("[1]", "line 1: must be one JSON object"),
        ('{"a": ' + "[" * 100_000, "line 1: is not JSON"),
        ('{"a": ' + "9" * 10_000 + "}", "line 1: is not JSON"),
        ('{"answer": "x"}', "line 1: user_input: is missing; it may be called user_input or question"),
        ('{"question": 3}', "line 1: question: must be a text"),
        ('{"user_input": [{"role": "human"}]}', "line 1: user_input: is a conversation"),
        ('{"question": "A?", "contexts": [1]}', "line 1: contexts: must be a list of texts"),
        ('{"question": "A?", "ground_truth": {"a": 1}}', "line 1: ground_truth: must be a text"),
        ('{"question": "A\\ud800?"}', "line 1: question: "),
        ('{"question": "A?", "id": [1]}', "line 1: id: must be a text or a number"),
        ('{"question": "A?", "id": 1}\n{"question": "B?", "id": "1"}', "line 2: id: '1' is there twice"),
        ("\n\n", "has no rows"),
    ],
)
def test_rows_that_cannot_be_used_are_told_by_row_and_field(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(line)
    with pytest.raises(BadQuestionSet) as error:
        read_ragas(file, DOCUMENTS, title="Rows")
    assert told in str(error.value)
    assert str(error.value).startswith(str(file))
    str(error.value).encode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("question,question\na,b\n", "a column is named twice"),
        ("question,contexts\nA?\n", "row 1: has 1 cells, the first row 2"),
        ('question\n"A?\n', "is not CSV"),
        (f"question\n{'x' * 200_000}\n", "line 2: is not CSV: field larger"),
    ],
)
def test_tables_that_cannot_be_used_are_told_by_row(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(text)
    with pytest.raises(BadQuestionSet, match=told):
        read_ragas(file, DOCUMENTS, title="Rows")


def test_a_cell_of_python_is_read_and_never_run(tmp_path: Path) -> None:
    file, made = tmp_path / "rows.csv", tmp_path / "made"
    cell = f"[open({str(made)!r}, 'w').write('x')]"
    with pytest.raises(ValueError, match="malformed"):
        ast.literal_eval(cell)
    file.write_text(f'question,contexts\nA?,"{cell}"\n')
    (one,) = read_ragas(file, DOCUMENTS, title="Rows").unplaced
    assert one.beginning.startswith("[open(")
    assert not made.exists()


def test_a_reference_that_is_too_long_is_left_out_and_told(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "A?", "reference": "word " * 1_000},
        {"question": "B?", "reference": "x" * 2_000},
    ]
    found = read_ragas(rows_file(tmp_path, *rows), DOCUMENTS, title="Rows")
    assert [one.reference for one in found.questions.cases] == [None, "x" * 2_000]
    assert found.notes == (
        "line 1: the reference was left out: it has 4,999 characters, and a case keeps 2,000",
    )


def test_a_row_without_an_id_is_not_taken_for_one_that_is_called_none(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"question": "A?"}, {"question": "B?", "id": "None"}, {"question": "C?"}]
    cases = read_ragas(rows_file(tmp_path, *rows), DOCUMENTS, title="Rows").questions.cases
    assert [one.id for one in cases] == ["row-1", "none", "row-3"]


@pytest.mark.parametrize(
    ("answer", "must_be_said"),
    [
        *((one, False) for one in ("Yes", "no.", "TRUE", "False!", "Yes, always", "No, never")),
        *((one, False) for one in ("是", "是的。", "否", "不是", "没有", "对,可以")),
        *((one, True) for one in ("No. 5", "Nobody", "Yesterday", "30 days", "是非题")),
    ],
)
def test_yes_and_no_need_not_be_said_in_these_words(tmp_path: Path, answer: str, must_be_said: bool) -> None:
    row = {"question": "May it go back?", "reference": answer}
    (case,) = read_ragas(rows_file(tmp_path, row), DOCUMENTS, title="Rows").questions.cases
    assert case.reference == answer
    assert case.must_say == ((answer,) if must_be_said else ())
    context = f"It is so: {answer} "
    asked = question(answers=[{"text": answer, "answer_start": context.index(answer)}])
    (case,), _ = read(tmp_path, squad(asked, context=context))
    assert case.must_say == ((answer,) if must_be_said else ())


def test_white_space_does_not_count_in_quotes() -> None:
    text = "Give it\nback within 30\u3000days, please."
    start, end = find_quote(text, "back  within 30 days") or (0, 0)
    assert text[start:end] == "back within 30\u3000days"
    assert find_quote(text, "forward") is None
    assert not holds_quote(text, " \n")


def result(case: Case, **fields: Any) -> CaseResult:
    values: dict[str, Any] = {
        "case_id": case.id,
        "set_name": "small",
        "category": case.category,
        "language": case.language,
        "sources": case.sources,
        "question": case.question,
        "groups": case.groups,
        "expected": case.expect,
        "required": case.required,
        "reference": case.reference,
        "milliseconds": 12.5,
        "scores": {},
        "failures": (),
    }
    return CaseResult(**(values | fields))


def evaluation_of(*results: CaseResult) -> Evaluation:
    return Evaluation(
        evaluation_id="e1",
        started_at=datetime.now(UTC),
        seconds=1.0,
        alias="knowledge",
        generation="knowledge-1",
        fingerprint="f",
        embedding_model="hashing",
        answering_model="extractive",
        sets=("small",),
        slices=(),
        cases=results,
    )


def test_results_have_the_columns_of_ragas_and_can_be_imported_again(tmp_path: Path) -> None:
    case = Case(
        id="returns",
        category=Category.ANSWERABLE,
        question="硬件 - how long?",
        expect=(Outcome.ANSWERED,),
        quotes=(Quote(document="refunds/returns.md", text="Hardware goes back within 30 days."),),
        reference="30 days",
    )
    trace = trace_of([used_evidence("refunds/returns.md", trace_id="t", text="Hardware\u2028goes back.")])
    right = result(case, outcome=Outcome.ANSWERED, answer="Within 30 days.", scores={"mrr": 1.0}, trace=trace)
    broken = result(case.model_copy(update={"id": "broken"}), error="StoreError: down")
    file = tmp_path / "results.jsonl"
    sets = [NamedSet("small", QuestionSet(title="Small", cases=(case,)))]
    assert export_results(evaluation_of(right, broken), sets, file) == 2
    first, second = (json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:2])
    assert {name: first[name] for name in list(first)[:5]} == {
        "user_input": "硬件 - how long?",
        "response": "Within 30 days.",
        "retrieved_contexts": ["Hardware\u2028goes back."],
        "reference_contexts": ["Hardware goes back within 30 days."],
        "reference": "30 days",
    }
    assert (first["case_id"], first["outcome"], first["passed"]) == ("returns", "answered", True)
    assert first["scores"] == {"mrr": 1.0}
    assert first["retrieved_documents"] == ["refunds/returns.md"]
    assert (second["response"], second["retrieved_contexts"], second["passed"]) == (None, None, False)
    assert second["error"] == "StoreError: down"
    again = read_ragas(file, DOCUMENTS, title="Again").questions.cases
    assert [one.id for one in again] == ["returns", "broken"]
    assert again[0].quotes == case.quotes
    with pytest.raises(ConfigurationError, match="cannot be written"):
        export_results(evaluation_of(right), sets, tmp_path / "absent" / "results.jsonl")
