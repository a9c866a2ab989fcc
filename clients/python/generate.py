"""Writes the generated files of this package: the models, from the OpenAPI document, and the client with
``async``, from the one without.

python3 generate.py [--check]

With --check it writes nothing and fails if a file is not what it would write. It needs no package.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).parent
SOURCE = HERE / "src" / "service_client"
DOCUMENT = HERE.parent.parent / "test" / "contract" / "openapi.golden.json"
NOTICE = "# Written by generate.py; do not edit.\n"

# What a client of the API never meets.
LEFT_OUT_TAGS = {"agents", "comments", "disabling", "documents", "moderation", "operations", "pages", "passkeys", "views"}


def type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].split("/")[-1]
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return union_of([type_of(one) for one in schema[union]])
    kind = schema.get("type")
    if isinstance(kind, list):
        return union_of([type_of({**schema, "type": each}) for each in kind])
    if kind == "array":
        return f"List[{type_of(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Dict[str, {type_of(values) if isinstance(values, dict) else 'Any'}]"
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
    return names.get(str(kind), "Any")


def union_of(types: list[str]) -> str:
    different = list(dict.fromkeys(types))
    return different[0] if len(different) == 1 else f"Union[{', '.join(different)}]"


class Models:
    """The schemas as typed dictionaries; an object within another one gets a separate name."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas
        self.parts: list[str] = []

    def add(self, name: str, schema: dict[str, Any]) -> None:
        if schema.get("properties"):
            self.add_dictionary(name, schema)
        else:
            self.parts.append(f'{name}: TypeAlias = "{type_of(schema)}"\n')

    def add_dictionary(self, name: str, schema: dict[str, Any]) -> None:
        required = set(schema.get("required", []))
        lines = []
        for field, given in schema["properties"].items():
            kind = self.field(name, field, given)
            lines.append((field, kind if field in required else f"NotRequired[{kind}]"))
        if all(field.isidentifier() and not keyword.iskeyword(field) for field, _ in lines):
            about = (schema.get("description") or "").replace("\n", " ").replace('"""', "'''")
            text = f"class {name}(TypedDict):\n"
            text += f'    """{about}"""\n\n' if about else ""
            text += "".join(f"    {field}: {kind}\n" for field, kind in lines)
            self.parts.append(text)
        else:
            fields = ", ".join(f'"{field}": "{kind}"' for field, kind in lines)
            self.parts.append(f'{name} = TypedDict("{name}", {{{fields}}})\n')

    def field(self, owner: str, name: str, schema: dict[str, Any]) -> str:
        inner = owner + "".join(part.capitalize() for part in re.split(r"\W|_", name))
        if schema.get("type") == "object" and schema.get("properties"):
            self.add_dictionary(inner, schema)
            return inner
        items = schema.get("items", {})
        if items.get("type") == "object" and items.get("properties"):
            self.add_dictionary(inner, items)
            return f"List[{inner}]"
        return type_of(schema)


def used_schemas(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas of the operations that a client calls, in the order of their names."""
    schemas = document["components"]["schemas"]
    used: set[str] = set()

    def visit(part: Any) -> None:
        for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(part)):
            if name not in used:
                used.add(name)
                visit(schemas[name])

    for item in document["paths"].values():
        for operation in item.values():
            if operation["tags"][0] not in LEFT_OUT_TAGS:
                visit(operation)
    visit({"$ref": "#/components/schemas/Problem"})
    return ((name, schemas[name]) for name in sorted(used))


def models_text() -> str:
    models = Models({})
    for name, schema in used_schemas(json.loads(DOCUMENT.read_text("utf-8"))):
        if name == "UpdateEvent":
            # A later release may add events.
            schema = {"oneOf": [*schema["oneOf"], {"$ref": "#/components/schemas/OtherEvent"}]}
        models.add(name, schema)
    return (
        f'"""The JSON of the API, as typed dictionaries. A later release may add fields, values and events."""\n\n'
        f"{NOTICE}\nfrom __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING, Any, Dict, List, Literal, Union\n\n"
        "from typing import TypedDict\n\n"
        "if TYPE_CHECKING:\n    from typing_extensions import NotRequired, TypeAlias\n\n\n"
        'class OtherEvent(TypedDict):\n    """An event of a type that this release does not know."""\n\n'
        "    id: str\n    sequence: int\n    type: str\n    occurred_at: str\n"
        "    subject: Dict[str, str]\n    actor: Dict[str, str]\n    data: Dict[str, Any]\n\n\n"
        + "\n\n".join(models.parts)
    )


# Calls that do something, and so are awaited.
AWAITED = r"(?:self\._(?:get|post|origin_post|in_session|end_session|reply|run|attempt|pause)|self\.(?:run|close)|self\._client\.run|self\._http\.aclose|result)\("


def async_text(name: str) -> str:
    text = (SOURCE / name).read_text("utf-8")
    head, _, rest = text.partition('"""\n')
    text = f'"""The client with ``async``."""\n\n{NOTICE}' + rest
    text = re.sub(r"^from \. import _resources as", "from . import _async_resources as", text, flags=re.M)
    text = re.sub(r"from \._base import", "from ._async_base import", text)
    text = re.sub(r"from \._client import Client", "from ._async_client import AsyncClient", text)
    text = re.sub(r"\bClient\b(?! *\(base_url)", "AsyncClient", text.replace("httpx.Client", "httpx.AsyncHttp"))
    text = text.replace("httpx.AsyncHttp", "httpx.AsyncClient")
    text = re.sub(r"\bIterator\b", "AsyncIterator", text)
    text = text.replace("__enter__", "__aenter__").replace("__exit__", "__aexit__")
    text = re.sub(r"self\._http\.close\(", "self._http.aclose(", text)
    text = re.sub(r"(?<!def )(?<!await )" + AWAITED, lambda found: f"await {found.group(0)}", text)
    text = text.replace("for item in self._pages", "async for item in self._pages")
    text = re.sub(r"for (\w+) in self\._pages\(", r"async for \1 in self._pages(", text)
    text = text.replace("for part in response.iter_bytes()", "async for part in response.aiter_bytes()")
    text = text.replace("with self._http.stream(", "async with self._http.stream(")
    text = text.replace("time.sleep(seconds)", "await _sleep(seconds)")
    text = re.sub(
        r"^( *)def (?!__init__|_identity|limits|_keep_session|session_cookie)(\w+)\(", r"\1async def \2(", text, flags=re.M
    )
    text = text.replace("async async", "async")
    if name == "_base.py":
        text = text.replace("    return value\n", "    return await value if isawaitable(value) else value\n")
        text = text.replace("import re\n", "import re\nfrom inspect import isawaitable\n", 1)
    if name == "_client.py":
        text = text.replace("import time\n", "import asyncio\nimport time\n", 1)
        text = text.replace("await _sleep(", "await asyncio.sleep(")
    return text


def main() -> int:
    texts = {"models.py": models_text()}
    for name in ("_base.py", "_resources.py", "_client.py"):
        texts[f"_async{name}"] = async_text(name)
    stale = [name for name, text in texts.items() if _read(SOURCE / name) != text]
    if "--check" in sys.argv:
        for name in stale:
            print(f"{name} is not what generate.py writes", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (SOURCE / name).write_text(texts[name], "utf-8")
    return 0


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
