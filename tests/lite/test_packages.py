"""Lock file of the browser site, and the wheel of this package."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from io import BytesIO
from pathlib import Path
from threading import Thread

import httpx
import pytest

import svcnb
import svcnb.lite.page
from svcnb import tools
from svcnb.lite import packages
from svcnb.lite.packages import WHEELS, locked, wanted_of, write_own_wheel
from svcnb.lite.page import POLICY, SiteNotBuilt, complete
from svcnb.lite.precompile import AT_START, MEMORY, precompile
from svcnb.lite.server import make_server
from svcnb.lite.site import build_site


@pytest.fixture
def npm(tmp_path):
    """Simulates the files that the site takes from npm. Each file contains its own name."""
    parser, grammar = tmp_path / "parser", tmp_path / "grammar"
    for folder, names in (
        (parser, ("web-tree-sitter.js", "web-tree-sitter.wasm")),
        (grammar, ("tree-sitter-javascript.wasm",)),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(name, "ascii")
    return {"web-tree-sitter": parser, "tree-sitter-javascript": grammar}


@pytest.fixture
def wheel(tmp_path, npm):
    return write_own_wheel(tmp_path, "1.2.3", npm)


def test_the_wheel_contains_only_modules_that_a_page_runs(wheel):
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    for name in (
        "svcnb/__init__.py",
        "svcnb/emulator/in_page.py",
        "svcnb/emulator/chain/static/chain.js.gz",
        "svcnb/emulator/sandbox/static/fast_page.js.gz",
        "svcnb/protocol/static/primitives.js.gz",
        "regex.py",
        "Crypto/Hash/keccak.py",
        "py_ecc/bls.py",
        "aiohttp.py",
        "tree_sitter.py",
        "tree_sitter_page/grammar.wasm",
    ):
        assert name in names
    left_out = ("svcnb/cli/", "svcnb/lite/", "svcnb/emulator/sandbox/static/bootstrap.js")
    assert [name for name in names if name.startswith(left_out) or "__pycache__" in name] == []


def test_the_same_sources_give_the_same_wheel(wheel, tmp_path, npm):
    other = tmp_path / "other"
    other.mkdir()
    assert write_own_wheel(other, "1.2.3", npm).read_bytes() == wheel.read_bytes()


def _wheel(folder: Path, name: str) -> Path:
    path = folder / name
    top = name.split("-", maxsplit=1)[0]
    with zipfile.ZipFile(path, "w") as content:
        content.writestr(f"{top}/__init__.py", "")
        content.writestr(f"{top}-1.dist-info/METADATA", "")
    return path


def test_the_lock_names_the_wheels_of_the_site_and_no_others(wheel, tmp_path):
    helper = _wheel(tmp_path, "some_helper-2.0-py3-none-any.whl")
    frames = _wheel(tmp_path, "pandas-3.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl")
    theirs = {"version": "1.0", "file_name": "elsewhere.whl", "sha256": "0" * 64}
    same_name = {"version": "2.0", "file_name": helper.name, "sha256": "0" * 64}
    sha256 = hashlib.sha256(frames.read_bytes()).hexdigest()
    kept = {"version": "3.0", "file_name": frames.name, "depends": ["numpy"], "sha256": sha256}
    lock = {"info": {}, "packages": {"some-helper": same_name, "numpy": theirs, "pandas": kept}}
    found = locked(lock, [wheel, helper, frames])["packages"]
    assert set(found) == {"pandas", "some-helper", "svcnb"}
    assert found["pandas"] == kept
    assert found["some-helper"]["file_name"] == helper.name
    assert found["some-helper"]["sha256"] == hashlib.sha256(helper.read_bytes()).hexdigest()
    assert found["some-helper"]["imports"] == ["some_helper"]
    assert found["svcnb"]["depends"] == ["some-helper"]
    assert {"Crypto", "ckzg", "regex", "svcnb"} <= set(found["svcnb"]["imports"])


def test_web3_is_loaded_by_the_cell_that_imports_it(wheel, tmp_path):
    names = ("web3", "requests", "urllib3", "charset_normalizer", "pyunormalize", "websockets", "httpx")
    wheels = [_wheel(tmp_path, f"{name}-1.0-py3-none-any.whl") for name in names]
    found = locked({"packages": {}}, [wheel, *wheels])["packages"]
    assert found["svcnb"]["depends"] == ["httpx"]
    assert found["web3"]["depends"] == ["svcnb", "pyunormalize", "requests", "websockets"]
    assert found["requests"]["depends"] == ["svcnb", "charset-normalizer", "urllib3"]


def _names(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as content:
        return {name for name in content.namelist() if ".dist-info/" not in name}


def _unpacked(archive: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Returns the files of an archive, and the names of files with WebAssembly libraries by path."""
    sizes, content = gzip.decompress(archive.read_bytes()).split(b"\n", maxsplit=1)
    rest = BytesIO(content)
    listed = json.loads(sizes)
    files = {name: rest.read(size) for name, size in listed["files"].items()}
    assert rest.read() == b""
    return files, listed["libraries"]


@pytest.fixture
def site(wheel, tmp_path):
    """Folder with the wheel of this package and the wheel ``pure``."""
    folder = tmp_path / "site"
    folder.mkdir()
    wheel.rename(folder / wheel.name)
    _wheel(folder, "pure-1.0-py3-none-any.whl")
    return folder


def _compile(site: Path, *library: str) -> None:
    """Compiles the wheels of a site, and a standard library that consists of these files."""
    with zipfile.ZipFile(site / "python_stdlib.zip", "w") as content:
        for name in library:
            content.writestr(name, f"print({name!r})")
    lock = locked({"packages": {}}, sorted(site.glob("*.whl")))
    (site / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    precompile(site)


def test_the_page_compiles_and_unpacks_as_little_as_possible(site):
    typed = _wheel(site, "jedi-1.0-py3-none-any.whl")
    with zipfile.ZipFile(typed, "a") as content:
        content.writestr("jedi/third_party/typeshed/stdlib/os.pyi", "")
        content.writestr("jedi/third_party/typeshed/stubs/six.pyi", "")
        content.writestr("jedi/python2.py", "print 1")
        content.writestr("jedi-1.0.data/data/share/extension.js", "")
    colours = _wheel(site, "pygments-1.0-py3-none-any.whl")
    with zipfile.ZipFile(colours, "a") as content:
        for lexer in ("python", "lilypond"):
            content.writestr(f"pygments/lexers/{lexer}.py", "")
    later = _wheel(site, "web3-1.0-py3-none-any.whl")
    _compile(site, "os.py")
    packages = json.loads((site / "pyodide-lock.json").read_text("utf-8"))["packages"]
    assert set(packages) == {"web3"}
    assert packages["web3"]["depends"] == ["pyunormalize", "requests", "websockets"]
    assert packages["web3"]["sha256"] == hashlib.sha256(later.read_bytes()).hexdigest()
    assert list(site.glob("*.whl")) == [later]
    in_library = {"os.pyc", "pure/__init__.pyc", "pygments/__init__.pyc", "pygments/lexers/python.pyc"}
    assert _names(site / "python_stdlib.zip") == in_library
    unpacked, libraries = _unpacked(site / AT_START)
    assert libraries == {}
    in_jedi = {"jedi/__init__.pyc", "jedi/python2.py", "jedi/third_party/typeshed/stdlib/os.pyi"}
    assert {name for name in unpacked if name.startswith("jedi/")} == in_jedi
    assert unpacked["jedi/python2.py"] == b"print 1"
    assert unpacked["svcnb/__init__.py"] == Path(svcnb.__file__).read_bytes()
    assert cache_from_source("svcnb/__init__.py") in unpacked
    assert [name for name in unpacked if name.endswith("RECORD")] == []
    recipes = "svcnb/toolkit/cookbook/recipes/"
    assert [name for name in unpacked if name.startswith(recipes) and name.endswith(".pyc")] == []
    program = f"import sys; sys.path.insert(0, {str(site / 'python_stdlib.zip')!r}); import pure; print(pure.__file__)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip().endswith("__init__.pyc")


_PYODIDE = """
export async function loadPyodide() {
  const libraries = ["one", "two"].map((each) => `/lib/python3.14/site-packages/${each}/_fast.so`);
  return {
    _api: { config: {} },
    _module: { LDSO: { loadedLibsByName: Object.fromEntries(libraries.map((each) => [each, {}])) } },
    FS: { readFile: (path) => new TextEncoder().encode(`content of ${path}`) },
    loadedPackages: {},
    makeMemorySnapshot: () => new Uint8Array(new Uint32Array([0, 16, 0, 0, 1]).buffer),
    runPython() {},
    runPythonAsync: () => Promise.resolve(),
    toPy: () => ({ destroy() {} }),
  };
}
"""
"""Substitute for Pyodide whose Python has loaded two libraries with the same file name."""


@pytest.mark.engine
def test_libraries_with_the_same_file_name_become_two_files_of_the_page(tmp_path):
    names = [f"{package}/_fast.so" for package in ("one", "two")]
    listed = {"files": {name: len(name) for name in [*names, "one/__init__.py"]}, "libraries": {}}
    content = "".join([*names, "one/__init__.py"]).encode()
    (tmp_path / AT_START).write_bytes(gzip.compress(json.dumps(listed).encode() + b"\n" + content))
    (tmp_path / "pyodide.mjs").write_text(_PYODIDE, "utf-8")
    (tmp_path / "pyodide.asm.mjs").write_text("export default () => {};", "utf-8")
    packages._run_pyodide(tmp_path, "make_snapshot.mjs", AT_START, MEMORY)
    kept, libraries = _unpacked(tmp_path / AT_START)
    assert kept == {"one/__init__.py": b"one/__init__.py"}
    assert len(libraries) == 2
    for path, file in libraries.items():
        assert (tmp_path / file).read_text("utf-8") == f"content of {path}"


_RESTORE = """
import { makeSnapshot, startPython } from "SNAPSHOT";
const whole = new Uint8Array(16 + 5 * 65536);
new Uint32Array(whole.buffer)[1] = 16;
const memory = whole.subarray(16);
memory.fill(7, 100, 9000); // pages of four kilobytes: three of them are not zero
memory.fill(8, 2 * 65536, 2 * 65536 + 1);
memory.fill(9, memory.length - 1);
const python = { loadedPackages: {}, makeMemorySnapshot: () => whole };
const snapshot = new Uint8Array(await new Blob(makeSnapshot(python)).arrayBuffer());
let module;
const runtime = {
  async loadPyodide(options) {
    module = await options.createPyodideModule({ preRun: [] });
    return { header: options._loadSnapshot, _api: { config: {} } };
  },
};
const archive = new TextEncoder().encode('{"files": {}, "libraries": {}}\\n');
const { header } = await startPython(runtime, { archive, folder: FOLDER, snapshot });
const same = module.HEAP8.slice(0, memory.length).every((byte, at) => byte === memory[at]);
console.log(JSON.stringify({ same, header: header.length, size: module.HEAP8.length, packed: snapshot.length }));
"""
_MODULE = """
// The memory of a new process is smaller than the memory in the snapshot, and has other content.
export default function create() {
  return {
    HEAP8: new Int8Array(3 * 65536).fill(5),
    growMemory(size) {
      const old = this.HEAP8;
      this.HEAP8 = new Int8Array(size);
      this.HEAP8.set(old);
    },
  };
}
"""


@pytest.mark.engine
def test_a_page_restores_the_memory_of_the_snapshot_without_its_zeros(tmp_path):
    (tmp_path / "pyodide.asm.mjs").write_text(_MODULE, "utf-8")
    page = Path(svcnb.lite.page.__file__).with_name("snapshot.mjs")
    script = _RESTORE.replace("SNAPSHOT", page.as_uri()).replace("FOLDER", json.dumps(f"{tmp_path.as_uri()}/"))
    (tmp_path / "restore.mjs").write_text(script, "utf-8")
    command = [str(tools.deno()), "run", "--no-config", "--quiet", f"--allow-read={tmp_path},{page.parent}"]
    done = subprocess.run(
        [*command, str(tmp_path / "restore.mjs")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("packed") < 6 * 4096
    assert found == {"same": True, "header": 16, "size": 5 * 65536}


def test_a_package_is_listed_with_its_dependencies():
    packages = {
        "pandas": {"file_name": "pandas.whl", "depends": ["numpy", "pytz"]},
        "numpy": {"file_name": "numpy.whl", "depends": []},
        "pytz": {"file_name": "pytz.whl", "depends": ["numpy"]},
        "scipy": {"file_name": "scipy.whl", "depends": []},
    }
    assert wanted_of({"packages": packages}, ["pandas"]) == ["numpy.whl", "pandas.whl", "pytz.whl"]


def test_every_wheel_has_an_exact_version_and_a_hash():
    lines = WHEELS.read_text("ascii").splitlines()
    assert len(lines) > 50
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line)] == []


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine", "ascii")
    with pytest.raises(SiteNotBuilt, match="contains files that are not part of a site"):
        build_site(tmp_path, lambda _line: None)
    assert (tmp_path / "thesis.txt").read_text("ascii") == "mine"


@contextmanager
def _running(folder: Path) -> Iterator[str]:
    """Serves a folder. Yields the address of the server."""
    with make_server(folder) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_the_server_sends_modules_as_javascript(tmp_path):
    (tmp_path / "pyodide.mjs").write_text("export {}", "ascii")
    with _running(tmp_path) as address:
        headers = httpx.get(f"{address}/pyodide.mjs", trust_env=False).headers
    assert headers["content-type"] == "text/javascript"
    assert headers["content-security-policy"] == POLICY


def test_the_server_compresses_files_for_browsers_that_support_it(tmp_path):
    file = tmp_path / "engine.wasm"
    file.write_text("compressible " * 1000, "ascii")
    with _running(tmp_path) as address:
        url = f"{address}/engine.wasm"
        compressed = httpx.get(url, trust_env=False)
        assert compressed.headers["content-encoding"] == "gzip"
        assert compressed.headers["content-type"] == "application/wasm"
        assert int(compressed.headers["content-length"]) < 1000
        plain = httpx.get(url, headers={"Accept-Encoding": "identity"}, trust_env=False)
        assert "content-encoding" not in plain.headers
        assert compressed.headers["last-modified"] == plain.headers["last-modified"]
        assert compressed.text == plain.text == file.read_text("ascii")
        seen = {"If-Modified-Since": plain.headers["last-modified"]}
        assert httpx.get(url, headers=seen, trust_env=False).status_code == 304


def test_the_server_sends_the_new_content_of_a_changed_file(tmp_path):
    file = tmp_path / "page.js"
    with _running(tmp_path) as address:
        for number, text in enumerate(("first", "second")):
            file.write_text(text, "ascii")
            os.utime(file, (number, number))
            assert httpx.get(f"{address}/page.js", trust_env=False).text == text


def test_the_server_prints_nothing_when_a_browser_closes_a_connection(tmp_path, capfd):
    (tmp_path / "large").write_bytes(bytes(50_000_000))
    with make_server(tmp_path) as server:
        server.daemon_threads = False  # the server waits for the threads of its requests
        thread = Thread(target=server.handle_request)
        thread.start()
        with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1)
        thread.join()
    assert capfd.readouterr().err == ""


def test_a_page_gets_the_policy_and_a_cache_of_its_own(tmp_path):
    site = tmp_path / "site"
    (site / "lab").mkdir(parents=True)
    (site / "static/pyodide").mkdir(parents=True)
    (site / "static/pyodide/pyodide.mjs").write_text("export {}", "ascii")
    kernel = site / "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.0a.js"
    kernel.parent.mkdir(parents=True)
    (site / "jupyter-lite.json").write_text('{"jupyter-config-data": {"appVersion": "1.2.3"}}', "ascii")
    versions = []
    for _ in range(2):
        (site / "lab/index.html").write_text('<html><head><meta charset="utf-8"></head></html>', "ascii")
        (site / "service-worker.js").write_text("theirs();", "ascii")
        kernel.write_text("theirs();", "ascii")
        complete(site)
        page, worker = ((site / name).read_text("utf-8") for name in ("lab/index.html", "service-worker.js"))
        assert f'content="{POLICY}"' in page
        assert "http:" not in POLICY
        assert f'"{POLICY}"' in worker
        assert worker.endswith("theirs();")
        assert 'localStorage.setItem(entry, "1.2.3")' in page
        assert "@" not in "".join(re.findall("@[A-Z]+@", page + worker))
        versions += re.findall('"svcnb-([0-9a-f]{16})"', worker)
        (site / "static/pyodide/pyodide.mjs").write_text("export { newer }", "ascii")
    assert len(set(versions)) == 2
    assert json.loads((site / "offline.json").read_text("utf-8")) == [
        kernel.relative_to(site).as_posix(),
        "index.html",
        "static/early.js",
        "static/pyodide/pyodide-runtime.mjs",
        "static/pyodide/pyodide.mjs",
        "static/pyodide/snapshot.mjs",
    ]
    assert (site / "static/compile.js").is_file()
    assert f'import "../{kernel.relative_to(site).as_posix()}";' in (site / "static/early.js").read_text("utf-8")


@pytest.mark.browser
def test_the_snapshot_contains_nothing_of_the_computer_that_built_the_site(site_folder):
    memory = gzip.decompress((site_folder / "static/pyodide" / MEMORY).read_bytes())
    own = (str(Path(svcnb.__file__).parents[1]), os.environ["PATH"])
    assert [text for text in own if text.encode() in memory] == []
    assert b"svcnb.emulator.service" in memory


@pytest.mark.browser
def test_the_site_contains_no_extension_of_another_package_of_the_environment(site_folder):
    page = json.loads((site_folder / "jupyter-lite.json").read_text("utf-8"))["jupyter-config-data"]
    names = sorted(extension["name"] for extension in page["federated_extensions"])
    expected = ["@jupyter-widgets/jupyterlab-manager", "@jupyterlite/pyodide-kernel-extension", "anywidget", "svcnb"]
    assert names == expected
    found = {
        file.parent.relative_to(site_folder / "extensions") for file in site_folder.glob("extensions/**/package.json")
    }
    assert sorted(folder.as_posix() for folder in found) == expected


@pytest.mark.browser
def test_the_site_contains_no_settings_of_jupyter_notebook(site_folder):
    files = list(site_folder.glob("build/schemas/all*.json"))
    names = [schema["id"] for file in files for schema in json.loads(file.read_text("utf-8"))]
    assert len(names) > 50
    assert [name for name in names if name.startswith("@jupyter-notebook/")] == []


def test_a_page_of_another_form_is_refused(tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/index.html").write_text("<html></html>", "ascii")
    with pytest.raises(SiteNotBuilt, match=r"unexpected structure: expected exactly one file .*comlink\.worker"):
        complete(tmp_path)
