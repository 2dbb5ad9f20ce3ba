"""Markdown keeps its author's words; the markup that no reader of the finished page sees is left out."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.normalize.document import BlockKind
from rag_pipeline_tests.reading import blocks_of, read_document, removed_texts


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Ask {% slack_channel \"talent\" %} now.", "Ask talent now."),
        ("Ask {% slack_channel \"talent\" \"Talent team\" %} now.", "Ask talent Talent team now."),
        ("See [the page]({% page \"/about\" %}) here.", "See [the page](/about) here."),
        ("See [it]({{ site.url }}/about).", "See [it](/about)."),
        ("<a href=\"{% link '/x' %}\">it</a> here", "[it](/x) here"),
        ("Before.\n\n{% include \"step.html\"\n  steps: x %}\n\nAfter.", "Before.\n\nAfter."),
        ("Before.\n\n{{ content }}\n\nAfter.", "Before.\n\nAfter."),
        ("Hello {{ name }}, welcome.", "Hello {{ name }}, welcome."),
        ("{% alert %}\nTake care.\n{% endalert %}", "Take care."),
        ("a {% comment %}not yet{% endcomment %}b", "a b"),
        ("{% raw %}{% tag %}{% endraw %}", "{% tag %}"),
        ("{% highlight ruby %}\nx = '{{ y }}'\n{% endhighlight %}", "```ruby\nx = '{{ y }}'\n```"),
        ("{% image \"a/b.png\" \"border\" \"A chart\" %}", "A chart"),
        ("{{< notice title=\"Be careful\" >}}\nText.\n{{< /notice >}}", "Be careful\nText."),
        ("one <!-- two\nthree --> four", "one  four"),
        ("a\n\n[//]: # (a note to authors)\n\nb", "a\n\nb"),
        ("text {/* not shown */} more", "text  more"),
    ],
)  # fmt: skip
def test_templates_show_what_a_reader_would_see(source: str, shown: str) -> None:
    assert read_document(source, "a.md").markdown.strip() == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (":::note\n\nText.\n\n:::\n\nAfter.", "**Note**\n\nText.\n\nAfter."),
        (":::tip[Good to know]\nText.\n:::", "**Good to know**\n\nText."),
        ("::: 注意\n中文。\n:::", "**注意**\n\n中文。"),
        ("::::columns\n:::info IMPORTANT\nText.\n:::\n::::", "**IMPORTANT**\n\nText."),
        ('!!! warning "Watch out"\n    Text.\n\n    - item\n\nAfter.',
         "**Watch out**\n\nText.\n\n- item\n\nAfter."),
        ('=== "Linux"\n\n    ```sh\n    run\n    ```\n', "**Linux**\n\n```sh\nrun\n```"),
        ("import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from \"x\";\n\nText.", "Text."),
        ("export const toc = [\n  {value: 1},\n];\n\nText.", "Text."),
        ("<Tabs groupId=\"a\" values={[{l: {x: 1}}]}>\n<TabItem value=\"json\" label=\"JSON\">\n\nText.\n\n"
         "</TabItem>\n</Tabs>", "**JSON**\n\nText."),
        ("<Card title=\"More\" />\n\nText.", "**More**\n\nText."),
        ("Use <YourKey> here.", "Use <YourKey> here."),
        ("export data from the old system", "export data from the old system"),
        ("## Title {#my-id}\n\nText.\n{: .note}", "## Title\n\nText."),
    ],
)  # fmt: skip
def test_admonitions_and_components_keep_titles_and_contents(source: str, shown: str) -> None:
    markdown = read_document(source, "a.mdx").markdown
    assert re.sub(r"\n{3,}", "\n\n", markdown).strip() == shown


def test_html_in_markdown_is_read_as_html() -> None:
    source = (
        "<h2 align=center>Title</h2>\n\n"
        "<table>\n<tr><th>A</th><th>B</th></tr>\n\n<tr><td>1</td><td>2</td></tr>\n</table>\n\n"
        "<details>\n<summary>More</summary>\n\nHidden *text*.\n\n</details>\n\n"
        "Line<br>two, <b>bold</b>, H<sub>2</sub>O, <a href='https://example.org'>site</a>,"
        " <span class=x>span</span> and a <placeholder>.\n\n<p style='display:none'>SECRET</p>\n"
    )
    document = read_document(source, "a.md")
    assert blocks_of(document, BlockKind.HEADING) == ["## Title"]
    assert blocks_of(document, BlockKind.TABLE) == ["| A | B |\n| - | - |\n| 1 | 2 |"]
    assert "**More**\n\nHidden *text*." in document.markdown
    line = "Line  \ntwo, **bold**, H₂O, [site](https://example.org), span and a <placeholder>."
    assert line in blocks_of(document, BlockKind.PARAGRAPH)
    assert removed_texts(document, "hidden") == ["SECRET"]


def test_underlined_headings_are_headings_like_all_others() -> None:
    document = read_document("Refund\npolicy\n======\n\nText.\n\nScope\n-----\n\nMore.", "a.md")
    assert blocks_of(document, BlockKind.HEADING) == ["# Refund policy", "## Scope"]
    assert document.title == "Refund policy"


def test_broken_front_matter_is_left_out_with_a_warning_and_a_rule_is_not() -> None:
    document = read_document(
        '---\ntitle: "unclosed\ntags: [a, b\n: : :\n---\n# Body\n\nStill useful.', "a.md"
    )
    assert document.markdown == "# Body\n\nStill useful."
    assert any("front matter" in warning for warning in document.warnings)
    assert "unclosed" in removed_texts(document, "front matter")[0]
    ruled = "---\n\nA paragraph between rules.\n\n---\n\nMore."
    assert read_document(ruled, "a.md").markdown == ruled


CODE = "```jsx\n<Tabs>{% tag %} {{ x }} <!-- c -->\n:::note\nimport a from 'b'\n```"
TABLE = "| a | b |\n|---|:-:|\n| `{{x}}` | <br> `:::` |"
MARKUP = st.sampled_from(
    ["<!-- gone -->", "<!-- gone\n\ngone -->", "{% tag %}", "{% tag 'x/y.html' %}", "{{ gone }}", ":::note",
     ":::", ":::tip Shown", "import A from 'b';", "<Tabs>", "</Tabs>", "<TabItem value='v'>", "</TabItem>",
     "<div>", "</div>", "<br>", "## Head {#id}", "{% raw %}", "{% endraw %}", "{# gone #}", "!!! note",
     "<details>", "</details>",
     "---", "===", "{%", "%}", "<!--x", "{{", "`", "``", "<b>", "</b>", "<p align='left'>",
     "</p>"]
)  # fmt: skip
PROSE = st.integers(100, 999).map("Prose w{} here.".format)


@settings(max_examples=150)
@given(
    st.lists(st.one_of(PROSE, PROSE, MARKUP), min_size=1, max_size=14), st.sampled_from(["\n", "\n\n", " "])
)
def test_prose_outside_of_markup_is_never_lost(parts: list[str], between: str) -> None:
    document = read_document(f"Start.\n\n{between.join(parts)}", "a.md")
    told = document.markdown + " ".join(removed.text for removed in document.removed)
    lost = [part for part in parts if part.startswith("Prose") and part.split()[1] not in told]
    assert lost == []


@settings(max_examples=60)
@given(st.lists(st.one_of(PROSE, st.sampled_from(
    ["<!-- gone -->", "{% tag %}", ":::note", ":::", "<Tabs>\n\n</Tabs>", "<div>x</div>", "a <br> b"]
)), max_size=5), st.lists(PROSE, max_size=3))  # fmt: skip
def test_code_and_tables_stay_as_they_are_written(before: list[str], after: list[str]) -> None:
    source = "\n\n".join([*before, CODE, TABLE, *after])
    document = read_document(source, "a.md")
    assert CODE in blocks_of(document, BlockKind.CODE)
    assert TABLE in blocks_of(document, BlockKind.TABLE)


def test_every_character_of_the_handled_markup_is_reported() -> None:
    source = (
        "Text <!-- one --> more.\n\n{% two %}\n\nimport A from 'three';\n\n"
        "<Tabs four='x'>\n\nBody.\n\n</Tabs>\n"
    )
    document = read_document(source, "a.md")
    assert document.markdown == "Text  more.\n\nBody."
    told = " ".join(removed.text for removed in document.removed)
    assert all(word in told for word in ("one", "two", "three", "four"))
