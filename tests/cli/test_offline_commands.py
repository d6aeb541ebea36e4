"""Commands that need no service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from svcnb import Action
from svcnb.exit_codes import ExitCode
from tests.process_groups import running

# CIDv0 of an empty file and of "hello world\n", computed by IPFS.
EMPTY = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HELLO = "QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o"


@pytest.mark.parametrize(("content", "expected"), [(b"", EMPTY), (b"hello world\n", HELLO)])
def test_cid_prints_the_cid_of_a_file(svcnb, tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "action.js"
    file.write_bytes(content)
    assert svcnb("cid", str(file)).stdout == f"{expected}\n"


def test_cid_reads_standard_input(svcnb) -> None:
    assert svcnb("cid", "-", stdin="hello world\n").stdout == f"{HELLO}\n"


def test_cid_in_json_contains_the_hash_on_the_chain(svcnb) -> None:
    from Crypto.Hash import keccak

    told = json.loads(svcnb("cid", "-", "--json", stdin="hello world\n").stdout)
    hashed = keccak.new(digest_bits=256, data=HELLO.encode()).hexdigest()
    assert told == {"cid": HELLO, "hashed_cid": f"0x{hashed}"}


def test_cid_of_a_plan_lists_its_actions_including_derived_ones(svcnb, tmp_path: Path) -> None:
    (tmp_path / "hello.js").write_text("hello world\n")
    lines = [
        'file = "hello.js"',
        "[actions.limited]",
        'file = "hello.js"',
        'constant_name = "LIMIT"',
        "constant = { cents = 5 }",
    ]
    (tmp_path / "account.toml").write_text("[actions.hello]\n" + "\n".join(lines))
    told = json.loads(svcnb("cid", str(tmp_path / "account.toml"), "--json").stdout)
    derived = Action("hello world\n").derive({"cents": 5}, name="LIMIT")
    assert {each["name"]: each["cid"] for each in told} == {"hello": HELLO, "limited": derived.cid}
    assert told[1]["hashed_cid"] == derived.hashed_cid
    assert svcnb("cid", str(tmp_path / "account.toml")).stdout.splitlines()[1].split() == ["hello", HELLO]


def test_cid_of_a_missing_file_is_an_error_without_a_traceback(svcnb, tmp_path: Path) -> None:
    done = svcnb("cid", str(tmp_path / "nothing.js"))
    assert done.returncode == ExitCode.USAGE
    assert "nothing.js" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_without_an_address_names_the_missing_setting(svcnb) -> None:
    done = svcnb("wallets", "list")
    assert done.returncode == ExitCode.USAGE
    assert "SVC_BASE_URL" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "{here}/add.js", "--params", "@missing.json"],
        ["history", "list", "--since", "yesterday"],
        ["history", "spend", "--since", "-1d"],
        ["explain", "missing.js"],
        ["groups", "add-action", "1", "folder/missing"],
        ["triggers", "list"],
        ["emulator", "--database", "nonsense"],
        ["emulator", "--database", "postgresql://user:hidden@host:port/name"],
        ["types", "{here}/add.js/folder"],
        ["account", "create", "mine", "--save", "{here}/missing/key"],
    ],
    ids=lambda given: " ".join(given[:2]),
)
def test_a_user_error_is_shown_without_a_traceback(svcnb, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "add.js").write_text("async function main() {}")
    done = svcnb(
        *(each.format(here=tmp_path) for each in arguments),
        SVC_BASE_URL="http://127.0.0.1:9",
        SVC_API_KEY="c3RyYW5nZXI=",
        SVC_TRIGGERS_TOKEN_FILE="",
    )
    assert done.returncode in set(ExitCode) - {ExitCode.OK}
    assert "Error:" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr, "a database's password was shown"


def test_a_mistyped_command_gets_suggestions(svcnb) -> None:
    assert "Did you mean 'run'?" in svcnb("runn").stderr


def test_a_list_of_commands_shows_complete_sentences(svcnb) -> None:
    for group in ("account", "triggers"):
        assert "..." not in svcnb(group, "--help", COLUMNS="60").stdout.partition("Commands:")[2]


def test_doctor_finds_a_missing_tool_and_explains_how_to_install_it(svcnb, tmp_path: Path) -> None:
    done = svcnb("doctor", "--json", SVC_CACHE=str(tmp_path))
    assert done.returncode == ExitCode.TOOL_MISSING
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert not findings["anvil"]["good"]
    assert "svcnb fetch" in findings["anvil"]["fix"]
    assert findings["deno"]["good"]
    assert findings["emulator"]["good"]
    assert findings["signatures"]["seen"].startswith("coincurve " if sys.version_info < (3, 14) else "wallycore ")


def test_doctor_reports_a_service_that_does_not_respond(svcnb) -> None:
    done = svcnb("doctor", SVC_BASE_URL="http://127.0.0.1:9")
    assert done.returncode == ExitCode.UNREACHABLE
    assert "FAIL  service" in done.stdout


def test_doctor_checks_the_service_of_the_option_the_profile_and_the_file(svcnb, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('base_url = "http://127.0.0.1:9"\n[profiles.test]\nbase_url = "http://127.0.0.1:10/core/v1"\n')
    for options, address in (
        ((), "127.0.0.1:9:"),
        (("--profile", "test"), "127.0.0.1:10:"),
        (("--base-url", "http://127.0.0.1:11/core/v1/"), "127.0.0.1:11:"),
    ):
        done = svcnb("doctor", *options, SVCNB_CONFIG=str(config), SVC_BASE_URL="")
        assert done.returncode == ExitCode.UNREACHABLE
        assert f"http://{address}" in done.stdout
    for options, found in (
        (("--profile", "tset"), "available profiles: test"),
        (("--base-url", "ftp://a"), "'ftp://a'"),
    ):
        wrong = svcnb("doctor", *options, SVCNB_CONFIG=str(config))
        assert wrong.returncode == ExitCode.USAGE
        assert found in wrong.stdout


def test_doctor_with_quiet_prints_only_the_names_of_failed_checks(svcnb, tmp_path: Path) -> None:
    done = svcnb("doctor", "--quiet", SVC_CACHE=str(tmp_path), SVC_BASE_URL="http://127.0.0.1:9")
    assert done.stdout == "anvil\nservice\n"


def test_quiet_omits_the_text_for_people(svcnb, tmp_path: Path) -> None:
    assert svcnb("triggers", "cron", "0 9 * * *", "--count", "2", "--quiet").stdout.count("09:00:00\n") == 2
    good, bad = tmp_path / "good.js", tmp_path / "bad.js"
    good.write_text("async function main() { return 1; }")
    bad.write_text("async function mian() { return 1; }")
    assert svcnb("lint", str(good), str(bad), "--quiet").stdout == f"{bad}\n"
    registry = tmp_path / "templates.json"
    assert svcnb("templates", "release", str(registry), "one", str(good)).returncode == ExitCode.OK
    assert "templates (1)" in svcnb("templates", "check", str(registry)).stdout
    assert svcnb("templates", "check", str(registry), "--quiet").stdout == ""
    assert svcnb("history", "path", "--quiet", SVC_HISTORY="/here").stdout == "/here\n"
    assert json.loads(svcnb("history", "path", "--json", SVC_HISTORY="/here").stdout) == {"file": "/here"}
    project = tmp_path / "project"
    assert svcnb("new", "price-oracle", str(project), "--quiet").stdout == f"{project}\n"


def test_commands_without_a_service_use_the_names_from_the_configuration(svcnb, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[profiles.acme]\nservice_name = "acme"\n')
    chosen = {"SVCNB_CONFIG": str(config), "SVC_PROFILE": "acme"}
    assert "Acme" in svcnb("types", **chosen).stdout
    assert "Acme" not in svcnb("types", "--service-name", "svc", **chosen).stdout
    action = tmp_path / "action.js"
    action.write_text("async function main({ wallet }) { return Acme.Actions.getPrivateKey({ wallet }); }")
    assert "Acme" not in svcnb("lint", str(action), **chosen).stdout
    assert "Acme" in svcnb("lint", str(action)).stdout
    typed = ("sign", "billing-auth", "--wallet-key-file", "-", "--chain-id", "1", "--issued-at", "1")
    assert json.loads(svcnb(*typed, stdin=f"{1:064x}", **chosen).stdout)["typed_data"]["domain"]["name"].startswith(
        "Acme"
    )


def test_the_copy_of_the_lessons_never_overwrites_a_change(tmp_path: Path) -> None:
    from svcnb.cli import lab
    from svcnb.lessons import lessons_folder

    folder = lessons_folder(tmp_path / "mine")
    lesson = folder / lab.FIRST_LESSON
    lesson.write_text("changed")
    (folder / "02-actions-and-cids.ipynb").unlink()
    assert lessons_folder(tmp_path / "mine") == folder
    assert lesson.read_text() == "changed"
    assert (folder / "02-actions-and-cids.ipynb").is_file()


def test_a_working_copy_opens_its_lessons_in_place() -> None:
    from svcnb.cli import lab
    from svcnb.lessons import lessons_folder

    root = Path(__file__).resolve().parents[2]
    assert (lessons_folder(None) / lab.FIRST_LESSON).samefile(root / "notebooks" / lab.FIRST_LESSON)


def test_a_workshop_checks_all_names_before_it_adds_a_learner(svcnb, tmp_path: Path) -> None:
    folder = tmp_path / "room"
    done = svcnb("workshop", "start", "ada", "x" * 201, "--folder", str(folder))
    assert done.returncode != ExitCode.OK
    assert "the learner's name has 201 characters" in done.stderr
    assert not folder.exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - it is refused
def test_a_workshop_requires_an_address_that_learners_can_reach(svcnb, tmp_path: Path, host: str) -> None:
    folder = tmp_path / "room"
    done = svcnb("workshop", "start", "ada", "--host", host, "--folder", str(folder))
    assert done.returncode == ExitCode.USAGE
    assert f"the learners cannot reach {host}, because this value means all addresses" in done.stderr
    assert not folder.exists()


def test_a_learner_of_a_workshop_cannot_keep_a_local_state(svcnb, tmp_path: Path) -> None:
    place = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_WORKSHOP_URL": "http://127.0.0.1:9"}
    done = svcnb("lab", "--no-browser", "--folder", str(tmp_path), "--state", str(tmp_path / "state"), **place)
    assert done.returncode == ExitCode.USAGE
    assert "Omit --state, or unset" in done.stderr


def test_lite_serve_prints_the_address_of_the_site(tmp_path: Path) -> None:
    (tmp_path / "jupyter-lite.json").write_text("{}", "utf-8")
    (tmp_path / "index.html").write_text("the site", "utf-8")
    command = [sys.executable, "-u", "-m", "svcnb", "lite", "serve", str(tmp_path)]
    with running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.endswith("/")
        assert httpx.get(address, trust_env=False).text == "the site"
