"""YAML from people and strangers: small, plain, and without the surprises of YAML 1.1.

Anchors, aliases and tags are refused (they can blow up or hide what is written), and so is deep nesting.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml

try:  # libyaml is ten times faster; a listing may parse 100,000 of these
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_YAML_BYTES = 1 << 20
_MAX_DEPTH = 20


class StrictYamlError(ValueError):
    """The text is not acceptable YAML; says why and where."""


class _UniqueKeysLoader(_Loader):
    """Refuses a mapping that names a key twice, of which plain YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise StrictYamlError(f"the key {key.value!r} is written twice, again at {_place(key)}")
                seen.add(key.value)
        return super().construct_mapping(node, deep)


class _TypedLoader(_UniqueKeysLoader):
    """Integers, floats, null, and true/false only: `no` stays a language and a date stays its text."""


_UNWANTED = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge"}
_TypedLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _UNWANTED]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_TypedLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


class _TextLoader(_Loader):
    """Every scalar stays the text that was written."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own name for it


class _UniqueTextLoader(_UniqueKeysLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012


def load_typed(text: str) -> Any:
    """The value of a YAML document, repeated keys refused. Raises StrictYamlError."""
    return _load(text, _TypedLoader)


def load_text(text: str, *, unique_keys: bool) -> Any:
    """The value of a YAML document whose scalars all stay strings. Raises StrictYamlError."""
    return _load(text, _UniqueTextLoader if unique_keys else _TextLoader)


def _load(text: str, loader: type[_Loader]) -> Any:
    try:
        _refuse_tricks(text)
        return yaml.load(text, loader)  # noqa: S506 - both loaders are safe loaders
    except StrictYamlError:
        raise
    except yaml.MarkedYAMLError as error:
        problem = (error.problem or error.context or "").splitlines()[0]
        raise StrictYamlError(f"is not valid YAML: {problem} at {_place(error)}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: absurd integers, lone surrogates
        raise StrictYamlError(f"is not valid YAML: {str(error).splitlines()[0]}") from None


def _refuse_tricks(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise StrictYamlError("holds an anchor or alias (& or *); write the value out")
        if tag := getattr(event, "tag", None):
            raise StrictYamlError(f"holds the tag {tag!r}; write plain values")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise StrictYamlError(f"is nested deeper than {_MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _place(thing: yaml.ScalarNode | yaml.MarkedYAMLError) -> str:
    mark = (
        thing.start_mark if isinstance(thing, yaml.ScalarNode) else thing.problem_mark or thing.context_mark
    )
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark else "an unknown place"
