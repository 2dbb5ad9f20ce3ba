"""Sentences inside a document that are meant for a language model and not for its readers.

They are stored like any other text and never followed; a warning names them, so that the owner can look. The
patterns are few, and each says what it found. They cannot tell a harmless request from an attack where the
sentence itself is harmless ("Explain the theory of relativity."): they look for what documents have no reason
to say.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Instruction(NamedTuple):
    """What a sentence tries, and the words that show it."""

    attempt: str
    quote: str


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


_REPLY: Final = (
    r"(?:in|to|into|from|of|with|at)? ?(?:your|the final) (?:response|reply|answer|message|output)s?\b"
)
# Verbs of writing at the beginning of a sentence, which tell what the answer shall hold or look like. Not
# "include", "attach", "send" and their like with "please": people ask that of people.
_SHAPE: Final = (
    r"(?:^|[.!?:;,>*\-\"”)] ?|\bthen |\bnow |\band |\bcan you )(?:add|append|integrate|include|insert|"
    r"introduce|enhance|augment|modify|render|misspell|jumble|rearrange|remove|group|convert|encrypt|encode|"
    r"shift|translate|express|provide|use|mention|substitute|print|mark|end|begin|start)\b"
)

# What is tried, words of which one must stand in a line before it is looked at closely, and the patterns.
_PATTERNS: Final = (
    (
        "asks to ignore other instructions",
        ("ignor", "disregard", "forget", "overrid", "bypass", "above are", "without ", "忽略", "无视", "忘",
         "不要理会", "不再遵守", "忽視", "無視"),
        _pattern(
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|earlier|above|preceding|"
            r"all|any|your|system|the user'?s)\b[^.\n]{0,20}"
            r"\b(?:instructions?|prompts?|rules|guidelines|directions|context|question|conversation)\b",
            r"\bignore the above\b|\bforget the context\b",
            r"\b(?:rules|instructions|guidelines) above are (?:outdated|void|invalid|cancelled|no longer)\b",
            r"\b(?:work|act|answer|operate|respond) without (?:any )?(?:restriction|limit|filter)",
            r"(?:忽略|无视|忘记|忘掉|不要理会|不再遵守|忽視|無視)[^。\n]{0,8}"
            r"(?:之前|以上|上述|先前|前面|此前|所有|一切|原来|之前的|以前|上面)[^。\n]{0,8}"
            r"(?:指令|指示|提示|规则|規則|要求|命令|设定|约束)",
        ),
    ),
    (
        "imitates a chat's markup",
        ("<|", "inst]", "<<", "</", "system: ", "assistant: ", "human: ", "<检", "<系", "<上", "<资", "<文"),
        _pattern(
            r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>",
            r"</(?:context|documents?|search_results|retrieved|evidence|sources?|system|instructions)>\s*$",
            r"</?(?:检索结果|系统|上下文|资料|文档)>",
            r"^\W{0,4}(?:system|assistant|human): .{0,200}\b(?:you|context|rules|instructions|sure)\b",
        ),
    ),
    (
        "speaks to an AI",
        (" ai", "llm", "language model", "chatbot", "chat bot", "you are now", "智能", "模型", "系统", "模式",
         "ai助手"),
        _pattern(
            r"\b(?:note|notice|message|instructions?|attention|reminder)s? (?:to|for) "
            r"(?:the |any |all |every )?(?:AI|LLM|language model|chat ?bot)s?\b",
            r"\bAI (?:assistant|agent|model|system)s? (?:reading|processing|summari[sz]ing|answering)\b",
            r"\b(?:if|since|because) you are an? (?:AI|LLM|large language model|language model|chat ?bot)\b",
            r"\byou are now (?:in |an? )?(?:\w+ ){0,2}(?:mode|DAN|unrestricted|jailbroken)\b",
            r"(?:致|告知|提醒)[^。\n]{0,4}(?:AI|人工智能|智能|语言模型|大模型)(?:助手|模型)?[：:]",
            r"^\W{0,4}(?:【|\[)系统(?:提示|消息|指令|通知)(?:】|\])",
            r"你(?:已|现在)(?:经)?(?:进入|处于|是)[^。\n]{0,8}(?:维护|开发者|无限制|越狱)(?:模式)?",
        ),
    ),
    (
        "asks for what an assistant keeps to itself",
        ("system prompt", "your ", "the user", "系统", "密码", "你的", "上下文"),
        _pattern(
            r"\b(?:print|reveal|show|output|repeat|leak|display|tell me|give me|recite)\b[^.\n]{0,30}"
            r"\b(?:system prompt|your (?:initial |hidden |original )?(?:instructions|prompt))\b",
            r"\b(?:list|print|reveal|show|output)\b[^.\n]{0,60}\b(?:in|from) your (?:context|memory)\b",
            r"\b(?:append|attach|add|send|put) the user'?s (?:last |previous )?(?:message|question|input)",
            r"(?:输出|打印|显示|泄露|透露|告诉|给出|列出|重复)[^。\n]{0,12}"
            r"(?:系统提示词|系统指令|管理员密码|你的(?:提示词|指令))",
            r"列出[^。\n]{0,6}上下文中[^。\n]{0,10}(?:文档|资料|内容)",
        ),
    ),
    (
        "says what an answer shall claim, cite or look like",
        ("your ", "the final ", "reply", "respond", "tell ", "asks", "citation", "obey", "不要引用", "回答",
         "回复", "答复", "告诉"),
        _pattern(
            rf"{_SHAPE}(?:[^.\n]|\.(?=\S)){{0,140}}{_REPLY}",
            rf"^\W{{0,4}}{_REPLY}, (?:suggest|include|mention|add|state|say|claim|recommend)\b",
            r"\byour answer as (?:verified|official|approved)\b",
            r"\b(?:reply|respond|answer) (?:in reverse|backwards?|using base ?\d+|only with)\b",
            r"\btell (?:every|all|any|the) (?:users?|customers?|readers?) that\b",
            r"\bif any(?:one|body) asks\b[^.\n]{0,60}\b(?:answer|say|reply|tell)\b",
            r"\bskip (?:all |the )?citations?\b|\b(?:give|use) no citations?\b",
            r"\banswer from your own knowledge\b",
            r"\b(?:and|then) obey it\b|\bobey (?:the|this) (?:document|page|text)\b",
            r"不要引用(?:本文|这|该|上)|(?:回答|回复|答复)(?:之)?前[，,]?\s*请|只回答[“\"「]",
            r"告诉(?:所有)?(?:用户|客户|每)",
        ),
    ),
    (
        "claims authority over trust or over other sources",
        ("trust ", " other", "可信", "信任", "调用", "使用"),
        _pattern(
            r"\b(?:raise|set|change|upgrade|increase)\b[^.\n]{0,20}\btrust (?:tier|level|score)\b",
            r"\bthis (?:page|document|file|policy|text) (?:replaces|supersedes|overrides|outranks)\b"
            r"[^.\n]{0,20}\b(?:every|all|any) other\b",
            r"(?:可信|信任|可信度|信任度)(?:级别|等级|级|度)?[^。\n]{0,6}(?:改为|设为|提高|提升|调整)",
            r"(?:调用|使用)[^。\n]{0,8}(?:删除|管理)(?:工具|接口)",
        ),
    ),
)  # fmt: skip
# "I g n o r e": single letters, one space between them, more between words.
_SPACED_OUT: Final = re.compile(r"(?:\b\w {1,3}){8,}\w\b")
_QUOTE_LENGTH: Final = 80
# A line may be a whole document: this much of it around a word is looked at.
_LOOK_BEFORE: Final = 300
_LOOK_BEHIND: Final = 600


def find_instructions(text: str) -> list[Instruction]:
    """What in a text is written for a language model: the first find of each kind, in the kinds' order."""
    searched = "\n".join([text, *_joined_letters(text)])
    lowered = searched.lower()
    if len(lowered) != len(searched):  # a few letters change their number when lowered
        lowered = searched
    found = []
    for attempt, words, pattern in _PATTERNS:
        for start, end in _lines_with(lowered, words):
            if match := pattern.search(searched[start:end]):
                found.append(Instruction(attempt, _quote(searched[start:end], match.start())))
                break
    return found


def _lines_with(lowered: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The places of the lines that hold one of the words, each once, in no certain order."""
    seen = set()
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            start = max(lowered.rfind("\n", 0, at) + 1, at - _LOOK_BEFORE)
            end = lowered.find("\n", at)
            end = min(len(lowered) if end < 0 else end, at + _LOOK_BEHIND)
            if start not in seen:
                seen.add(start)
                yield start, end
            at = lowered.find(word, end)


def instruction_warnings(text: str) -> tuple[str, ...]:
    """A warning for each kind of instruction to a language model that a text holds."""
    return tuple(
        f"the text {one.attempt} (“{one.quote}”); it is stored as data and never followed"
        for one in find_instructions(text)
    )


def _joined_letters(text: str) -> Iterator[str]:
    for match in _SPACED_OUT.finditer(text):
        words = re.split(r" {2,}", match.group())
        yield " ".join(word.replace(" ", "") for word in words)


def _quote(line: str, start: int) -> str:
    begin = max(0, start - 10)
    part = line[begin : begin + _QUOTE_LENGTH].strip()
    return part if begin + _QUOTE_LENGTH >= len(line) else f"{part}…"
