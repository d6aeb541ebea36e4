"""Requirements of scheduled reports: a lock, a notification, retention, and other output formats."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from svcnb import ConfigError
from svcnb.reports import Conclusion, Report, ReportKind
from svcnb.reports.masking import masked, secrets_of
from svcnb.reports.pdf import chromium, print_pdf
from svcnb.reports.summary import Summary
from svcnb.reports.unattended import NotificationFailed, ReportRunning, delete_old, ipython_folder, locked, notify


@pytest.mark.slow
def test_the_same_report_does_not_run_twice_at_the_same_time(tmp_path) -> None:
    with locked(tmp_path, "spend"):
        code = "import sys; from pathlib import Path; from svcnb.reports.unattended import locked\n"
        code += "with locked(Path(sys.argv[1]), sys.argv[2]): print('held')"
        for name, held in (("spend", False), ("run-history", True)):
            done = subprocess.run(
                [sys.executable, "-c", code, str(tmp_path), name],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert ("held" in done.stdout) == held
            assert ("another process is creating" in done.stderr) != held
    with locked(tmp_path, "spend"):
        pass
    assert issubclass(ReportRunning, Exception)


def test_without_a_writable_home_ipython_gets_a_folder_that_is_deleted(tmp_path, monkeypatch) -> None:
    from IPython.paths import get_ipython_dir

    monkeypatch.delenv("IPYTHONDIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    with ipython_folder():
        folder = Path(get_ipython_dir())  # pytest treats a warning as an error
        assert folder.is_dir()
    assert not folder.exists()
    assert "IPYTHONDIR" not in os.environ
    monkeypatch.setenv("HOME", str(tmp_path))
    with ipython_folder():
        assert "IPYTHONDIR" not in os.environ


def test_a_webhook_gets_the_result_as_json(hook) -> None:
    notify(f"{hook.url}/200", {"report": "spend"})
    assert hook.got == [{"report": "spend"}]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_failed_webhook_is_reported_without_its_address(hook, status) -> None:
    with pytest.raises(NotificationFailed, match=f"responded to the notification with status {status}") as caught:
        notify(f"{hook.url}/{status}", {})
    assert "marked-secret" not in f"{caught.value!r}{caught.value}"
    assert len(hook.got) == 1, "a redirect is not followed"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "marked-secret",
        "ftp://host/marked-secret",
        "",
        "http://[marked-secret/x",
        "http://host:marked-secret/",
        "http://host:99999/",
    ],
)
def test_an_invalid_web_address_is_rejected(url) -> None:
    with pytest.raises(ConfigError, match="expected an http or https address") as caught:
        notify(url, {})
    assert "marked-secret" not in f"{caught.value!r}{caught.value}"


@pytest.mark.parametrize("url", [f"http://{'a' * 70}.test/marked-secret", "http://127.0.0.1:9/ marked-secret"])
def test_a_web_address_that_cannot_be_requested_is_reported_without_it(url) -> None:
    with pytest.raises(NotificationFailed, match="cannot send the notification") as caught:
        notify(url, {})
    assert "marked-secret" not in f"{caught.value!r}{caught.value}"


def test_any_web_address_and_any_text_can_be_sent(hook) -> None:
    notify(f"{hook.url}/ä b/200", {"report": "\ud800"})
    assert hook.got == [{"report": "\ud800"}]


def test_only_the_newest_reports_of_the_name_stay(tmp_path) -> None:
    for stem in (
        "spend-20260101T000000Z",
        "spend-20260102T000000Z",
        "spend-20260102T000000Z-2",
        "spend-20260102T000000Z-10",
    ):
        for suffix in ("ipynb", "html"):
            (tmp_path / f"{stem}.{suffix}").touch()
    others = ["spend.html", "spend-of-2025.html", "run-history-20250101T000000Z.html", "my-spend-20250101T000000Z.html"]
    for name in others:
        (tmp_path / name).touch()
    assert len(delete_old(tmp_path, "spend", 2)) == 4
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*others, *(f"spend-20260102T000000Z-{n}.{suffix}" for n in (2, 10) for suffix in ("ipynb", "html"))}


def made(folder: Path, *attention: str) -> Report:
    facts = {"Account": "0x1", "Service": "http://a.test"}
    html = folder / "spend.html"
    return Report(
        ReportKind.named("spend"),
        folder / "spend.ipynb",
        html,
        Conclusion(attention, ["$0.23 within 30d"]),
        facts,
        ("b_c",),
    )


def test_the_summary_is_markdown_that_shows_texts_as_they_are(tmp_path) -> None:
    text = Summary.of(made(tmp_path, "failures of <b>*x*</b>\n# y: 6 of 6"), "spend", 7).markdown()
    assert text.startswith("## spend: needs attention\n")
    assert r"- **failures of \<b\>\*x\*\</b\> \# y: 6 of 6**" in text
    assert r"\$0.23 within 30d" in text
    assert r"Not visible: b\_c" in text
    assert "Service: http://a.test" in text
    assert Summary.of(made(tmp_path), "spend", 0).markdown().startswith("## spend: no problems found")
    failed = Summary.of(ConfigError("no address", hint="Set SVC_BASE_URL."), "spend", 2).json()
    assert (failed["status"], failed["attention"]) == ("failed", ["no address", "Set SVC_BASE_URL."])


def test_secrets_of_other_services_are_masked_in_outputs(tmp_path) -> None:
    token = tmp_path / "token"
    token.write_text("triggers-token\n")
    environment = {
        "SVC_API_KEY": "marked/secret+key=", "DATABASE_PASSWORD": "marked-password", "PIN": "1234", "HOME": "/users/me",
        "SVC_TRIGGERS_TOKEN_FILE": str(token),
    }  # fmt: skip
    secrets = secrets_of(environment)
    picture = "iVBORw0KGgo" + "A" * 32 + "="
    shown = {
        "text/plain": "marked-password marked/secret+key= marked%2Fsecret%2Bkey%3D triggers-token 1234 /users/me",
        "image/png": picture,
        "application/json": {"marked-password": [f"other {'B' * 43}="]},
    }
    told = masked(shown, secrets, shown=True)
    assert told["text/plain"] == "******** ******** ******** ******** 1234 /users/me"
    assert told["image/png"] == picture
    assert told["application/json"] == {"********": ["other ********"]}


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed")
def test_a_page_is_printed_to_a_pdf(tmp_path) -> None:
    page = tmp_path / "report.html"
    page.write_text("<html><head></head><h1>Report</h1><script>document.body.innerHTML = ''</script></html>")
    pdf = print_pdf(page)
    assert pdf is not None
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert b"/StructParent" in pdf.read_bytes() or b"/H1" in pdf.read_bytes(), "the script has not emptied the page"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_without_a_chromium_there_is_a_warning_and_no_pdf(tmp_path, monkeypatch, caplog) -> None:
    page = tmp_path / "report.html"
    page.write_text("<h1>Report</h1>")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SVC_CHROMIUM", raising=False)
    assert print_pdf(page) is None
    assert "created: Chromium was not found" in caplog.text
    monkeypatch.setenv("SVC_CHROMIUM", str(tmp_path / "none"))
    assert print_pdf(page) is None
    assert not page.with_suffix(".pdf").exists()
