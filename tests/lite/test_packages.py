"""The lock file and the own wheel of the site in a browser."""

from __future__ import annotations

import hashlib
import zipfile

import pytest

from svcnb.lite.packages import WHEELS, locked, write_own_wheel
from svcnb.lite.server import make_server
from svcnb.lite.site import SiteNotBuilt, build_site


@pytest.fixture
def wheel(tmp_path):
    return write_own_wheel(tmp_path, "1.2.3")


def test_the_own_wheel_holds_what_a_page_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    for name in (
        "svcnb/__init__.py",
        "svcnb/emulator/in_page.py",
        "svcnb/emulator/chain/static/chain.js",
        "svcnb/emulator/sandbox/static/fast_page.js",
        "svcnb/protocol/static/primitives.js",
        "regex.py",
        "Crypto/Hash/keccak.py",
    ):
        assert name in names
    left_out = ("svcnb/cli/", "svcnb/lite/", "svcnb/emulator/sandbox/static/bootstrap.js")
    assert [name for name in names if name.startswith(left_out) or "__pycache__" in name] == []


def test_the_same_sources_give_the_same_wheel(wheel, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert write_own_wheel(other, "1.2.3").read_bytes() == wheel.read_bytes()


def test_the_lock_names_the_own_wheels_in_place_of_its_own(wheel, tmp_path):
    helper = tmp_path / "some_helper-2.0-py3-none-any.whl"
    with zipfile.ZipFile(helper, "w") as content:
        content.writestr("some_helper/__init__.py", "")
        content.writestr("some_helper-2.0.dist-info/METADATA", "")
    theirs = {"version": "1.0", "file_name": "elsewhere.whl"}
    lock = {"info": {}, "packages": {"some-helper": theirs, "some-helper-tests": theirs, "numpy": theirs}}
    found = locked(lock, [wheel, helper])["packages"]
    assert set(found) == {"numpy", "some-helper", "svcnb"}
    assert found["some-helper"]["file_name"] == helper.name
    assert found["some-helper"]["sha256"] == hashlib.sha256(helper.read_bytes()).hexdigest()
    assert found["some-helper"]["imports"] == ["some_helper"]
    assert found["svcnb"]["depends"] == ["some-helper"]
    assert {"Crypto", "ckzg", "regex", "svcnb"} <= set(found["svcnb"]["imports"])


def test_every_wheel_has_an_exact_version():
    assert all(line.count("==") == 1 for line in WHEELS.read_text("ascii").split())


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine", "ascii")
    with pytest.raises(SiteNotBuilt, match="holds files that are not a site"):
        build_site(tmp_path, lambda _line: None)
    assert (tmp_path / "thesis.txt").read_text("ascii") == "mine"


def test_the_server_sends_modules_as_javascript(tmp_path):
    from threading import Thread

    import httpx

    (tmp_path / "pyodide.mjs").write_text("export {}", "ascii")
    with make_server(tmp_path) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/pyodide.mjs"
            assert httpx.get(url, trust_env=False).headers["content-type"] == "text/javascript"
        finally:
            server.shutdown()
            thread.join()
