"""Substitute for tree-sitter, whose Python package has no build for WebAssembly: the same parser from npm.

The module reads a complete tree from the parser in one step. It contains only the classes that the linter uses.
"""

import json
import re
from functools import cache
from pathlib import Path

from svcnb.in_process import wait

_FOLDER = Path(__file__).with_name("tree_sitter_page")
_LONE = re.compile("[\ud800-\udfff]")
_START = """const start = async (url, parser, grammar) => {
  const { Language, Parser } = await import(url);
  // A module with an object URL has no folder, in which the library would look for its file.
  await Parser.init({ wasmBinary: parser, locateFile: (name) => name });
  const loaded = new Parser();
  loaded.setLanguage(await Language.load(grammar));
  return (source) => {
    const tree = loaded.parse(source);
    const cursor = tree.walk();
    const rows = [];
    const parents = [-1];
    for (let open = true; open;) {
      const node = cursor.currentNode;
      rows.push([
        cursor.nodeType, cursor.startIndex, cursor.endIndex, cursor.startPosition.row, parents.at(-1),
        cursor.nodeIsNamed, cursor.currentFieldName, node.isMissing, node.hasError,
      ]);
      if (cursor.gotoFirstChild()) {
        parents.push(rows.length - 1);
        continue;
      }
      while (open && !cursor.gotoNextSibling()) {
        open = cursor.gotoParent();
        parents.pop();
      }
    }
    cursor.delete();
    tree.delete();
    return JSON.stringify(rows);
  };
};
start"""


class Node:
    """Node of a syntax tree, with the same attribute names as the library's class."""

    def __init__(self, number: int, row: list, offsets: "list[int] | None", parent: "Node | None") -> None:
        kind, start, end, line, _, named, field, missing, error = row
        self.id = number
        self.type = kind
        self.start_byte = start if offsets is None else offsets[start]
        self.end_byte = end if offsets is None else offsets[end]
        self.start_point = (line, 0)
        self.is_named = named
        self.is_missing = missing
        self.has_error = error
        self.parent = parent
        self.children: list[Node] = []
        self.field = field

    @property
    def named_children(self) -> "list[Node]":
        """Children that are not punctuation or keywords."""
        return [each for each in self.children if each.is_named]

    def child_by_field_name(self, name: str) -> "Node | None":
        """Returns the first child that has the given field name."""
        return next((each for each in self.children if each.field == name), None)


class Language:
    """Grammar of a programming language, as a WebAssembly module."""

    def __init__(self, module: bytes) -> None:
        self.module = module


class Tree:
    """Syntax tree of a source text, with its root node."""

    def __init__(self, root: Node) -> None:
        self.root_node = root


class Parser:
    """Parser for a grammar. The parser's WebAssembly module loads with the first grammar."""

    def __init__(self, language: Language) -> None:
        self._parse = _load(language.module)

    def parse(self, source: bytes) -> Tree:
        """Parses source text in UTF-8, and returns its syntax tree. U+FFFD replaces unpaired surrogates."""
        text = _LONE.sub("\ufffd", source.decode("utf-8", "surrogatepass"))
        offsets = None if text.isascii() else _offsets(text)
        nodes: list[Node] = []
        for number, row in enumerate(json.loads(self._parse(text))):
            parent = nodes[row[4]] if row[4] >= 0 else None
            nodes.append(Node(number, row, offsets, parent))
            if parent is not None:
                parent.children.append(nodes[-1])
        return Tree(nodes[0])


def _offsets(text: str) -> list[int]:
    """Returns the UTF-8 offset of each UTF-16 code unit, because JavaScript counts in UTF-16 code units."""
    found, at = [], 0
    for character in text:
        found += [at] * (2 if ord(character) > 0xFFFF else 1)
        at += len(character.encode())
    return [*found, at]


@cache
def _load(grammar: bytes) -> object:
    from pyodide.code import run_js
    from pyodide.ffi import can_run_sync, to_js

    from svcnb.protocol.in_page import object_url, revoke

    if not can_run_sync():
        raise ImportError("the linter's parser is not loaded in this page: first run a cell that calls lint")
    url = object_url((_FOLDER / "tree-sitter.js").read_bytes())
    try:
        parse = wait(run_js(_START)(url, to_js((_FOLDER / "tree-sitter.wasm").read_bytes()), to_js(grammar)))
        json.loads(parse("1"))
    except Exception as error:
        raise ImportError(
            f"the parser does not work in this browser: {error}. Use another browser, or install svcnb locally."
        ) from error
    else:
        return parse
    finally:
        revoke(url)
