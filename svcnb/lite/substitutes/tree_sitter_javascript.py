"""Substitute for tree-sitter-javascript: the same grammar as a WebAssembly module from npm."""

from pathlib import Path


def language() -> bytes:
    """Returns the content of the WebAssembly module with the grammar, for `tree_sitter.Language`."""
    return Path(__file__).with_name("tree_sitter_page").joinpath("grammar.wasm").read_bytes()
