from __future__ import annotations

import pytest

from svcnb.emulator.billing.return_url import ReturnUrlRefused, check_return_url, with_query

HOST = "hub.example.org"


@pytest.mark.parametrize(
    "url",
    [
        "/processor/return",
        "/",
        "http://127.0.0.1:8888/lab?x=1#top",
        "http://localhost/done",
        "https://localhost:1/done",
        "http://[::1]:9/",
        "http://127.8.9.1/",
        "https://hub.example.org/user/anna/proxy/8000/processor/return",
    ],
)
def test_redirects_to_this_machine_and_the_pages_own_host_are_allowed(url):
    assert check_return_url(url, own_host=HOST) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "return",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "http://evil.example/",
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://evil.example\\@127.0.0.1/",
        "http://evil.example#@127.0.0.1/",
        "https://hub.example.org:444/",
        "https://hub.example.org.evil.example/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "ftp://127.0.0.1/",
        "http:/127.0.0.1/",
        "http:127.0.0.1/",
        " http://127.0.0.1/",
        "http://127.0.0.1/\n",
        "ht\ttp://127.0.0.1/",
        "http://[::1/",
        "http://127.0.0.1:port/",
        "http://2130706433/",
    ],
)
def test_redirects_to_other_hosts_are_rejected(url):
    with pytest.raises(ReturnUrlRefused, match="use an address on this machine"):
        check_return_url(url, own_host=HOST)


def test_parameters_are_added_to_an_existing_query():
    assert with_query("/r", a="1") == "/r?a=1"
    assert with_query("http://localhost/r?x=%20#f", a="b c", d="&") == "http://localhost/r?x=%20&a=b+c&d=%26#f"
    assert with_query("../return", a="1") == "../return?a=1"
