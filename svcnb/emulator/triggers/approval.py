"""Pages under ``/agent``, on which a user authorises a client (docs/service/triggers.md#authorisation).

Browsers send the session cookie only to these pages, never to ``/api``. Otherwise, another page on this machine could
make the browser call the API. Every change requires a form with the CSRF token of the session.
"""

from __future__ import annotations

import hmac
import re
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.responses import JSONResponse, RedirectResponse, Response

from svcnb.emulator.http.routing import Endpoint
from svcnb.emulator.settings import LOOPBACK
from svcnb.emulator.triggers import pages
from svcnb.emulator.triggers.errors import Refused, bad
from svcnb.emulator.triggers.identity import DEFAULT_EMAIL, User, check_challenge, user_of
from svcnb.emulator.triggers.requests import Ask, Rows
from svcnb.protocol.limits import APPROVAL_SESSION_S, MAX_APPROVAL_FORM_BYTES

COOKIE: Final = "svcnb_session"
_PATH: Final = "/agent"
_AUTHORIZE: Final = f"{_PATH}/authorize"
_FOLDER_HEADERS: Final = ("x-forwarded-prefix", "x-forwarded-context")
"""Headers in which proxies send the path prefix that they remove. jupyter-server-proxy uses the second header."""

_MAX_FIELDS: Final = 16
_FOLDER: Final = re.compile(r"(?:/[A-Za-z0-9._~@%-]{1,200}){1,12}/?")


def endpoints(rows: Rows) -> list[Endpoint]:
    """Returns the endpoints of the sign-in page and the approval page."""
    return [
        rows.row("GET", _AUTHORIZE, question),
        rows.row("POST", _AUTHORIZE, answer),
        rows.row("GET", f"{_PATH}/login", login_page),
        rows.row("POST", f"{_PATH}/login", login),
    ]


async def question(ask: Ask) -> Response:
    """Returns the approval page.

    Without a session, a local request signs in the default user. Other requests are redirected to the sign-in page.
    """
    try:
        challenge = check_challenge(ask.call.request.query_params.get("challenge", ""))
    except Refused as refusal:
        return pages.problem(refusal.message, refusal.status)
    identity = ask.triggers.identity
    cookie = ask.call.request.cookies.get(COOKIE, "")
    user = identity.by_session(cookie)
    if user is None:
        if not _is_private(ask):
            return RedirectResponse(f"login?{urlencode({'challenge': challenge})}", 303)
        cookie = await identity.sign_in(DEFAULT_EMAIL)
        user = identity.by_session(cookie)
    email = user.email if user else DEFAULT_EMAIL
    return _with_session(ask, pages.approval(challenge, email, identity.csrf(cookie)), cookie)


async def answer(ask: Ask) -> Response:
    """Approves a challenge. Responds to programs with JSON, and to browsers with a page."""
    identity = ask.triggers.identity
    cookie = ask.call.request.cookies.get(COOKIE, "")
    wants_page = "text/html" in ask.header("accept")
    try:
        _same_origin(ask)
        user = _signed_in(ask, cookie)
        form = await _form(ask)
        identity.check_csrf(cookie, form.get("csrf") or ask.header("x-csrf-token"))
        approver = await identity.approve(form.get("challenge", ""), form.get("label", ""), user.email)
    except Refused as refusal:
        return pages.problem(refusal.message, refusal.status) if wants_page else refusal.response()
    if wants_page:
        return pages.approved(approver.email)
    return JSONResponse({"ok": True, "user_email": approver.email})


async def login_page(ask: Ask) -> Response:
    """Returns the sign-in page. If the query contains a challenge, the approval page follows the sign-in."""
    challenge = ask.call.request.query_params.get("challenge", "")
    return pages.sign_in(_target(challenge), without_token=DEFAULT_EMAIL if _is_private(ask) else None)


async def login(ask: Ask) -> Response:
    """Signs a user in for seven days.

    The request requires the control token, unless the request is local and the user is the default user.
    """
    try:
        _same_origin(ask)
        form = await _form(ask)
        email = form.get("email", "")
        _check_right_to_sign_in(ask, email, form.get("token", ""))
        cookie = await ask.triggers.identity.sign_in(email)
    except Refused as refusal:
        return pages.problem(refusal.message, refusal.status)
    next_page = form.get("next", "")
    wanted = parse_qs(urlsplit(next_page).query).get("challenge", [""])[0] if next_page.startswith("authorize") else ""
    if not wanted:
        return _with_session(ask, pages.page("Signed in", "<p>Open the approval page from your client.</p>"), cookie)
    # Build the address only from the challenge, so that the form cannot redirect the browser to another address.
    return _with_session(ask, RedirectResponse(_target(wanted), 303), cookie)


def _signed_in(ask: Ask, cookie: str) -> User:
    user = ask.triggers.identity.by_session(cookie)
    if user is None:
        problem = "your sign-in session is no longer valid" if cookie else "you are not signed in"
        raise Refused(401, "unauthorized", f"{problem}: open the approval page again")
    return user


def _check_right_to_sign_in(ask: Ask, email: str, given: str) -> None:
    # Several users can share an emulator. Without the token, a local program must not sign in as another user.
    if _is_private(ask) and user_of(email) == user_of(DEFAULT_EMAIL):
        return
    if not hmac.compare_digest(given.encode(), ask.triggers.control_token.encode()):
        if given:
            message = "invalid control token"
        elif _is_private(ask):
            message = f"a user other than {DEFAULT_EMAIL} needs the control token to sign in"
        else:
            message = "signing in to this emulator needs its control token"
        raise Refused(
            401,
            "unauthorized",
            f"{message}: enter the emulator's control token. To choose this token, start the emulator with the setting "
            "control_token.",
        )


def _target(challenge: str) -> str:
    # Use a relative address, because a proxy can add a prefix to all paths.
    return f"authorize?{urlencode({'challenge': challenge})}" if challenge else "authorize"


def _is_private(ask: Ask) -> bool:
    """Returns whether the request is local.

    A request is local if the emulator listens on loopback and the Host header is a local name.
    """
    settings = ask.triggers.settings
    name = urlsplit(f"//{ask.header('host')}").hostname or ""
    return settings.is_private and name in LOOPBACK


def _same_origin(ask: Ask) -> None:
    origin = ask.header("origin")
    site = ask.header("sec-fetch-site")  # browsers set this header, and pages cannot change it
    if (origin and urlsplit(origin).netloc != ask.header("host")) or site not in {"", "same-origin", "none"}:
        raise Refused(
            403,
            "csrf_failed",
            "a page of another origin cannot send this request: open the approval page of this emulator",
        )


def _with_session(ask: Ask, response: Response, cookie: str) -> Response:
    # The path of the cookie must be the path in the browser's address. A proxy sends its prefix in a header.
    folder = next((given for name in _FOLDER_HEADERS if _FOLDER.fullmatch(given := ask.header(name))), "")
    path = f"{folder.rstrip('/')}{_PATH}"
    response.set_cookie(COOKIE, cookie, max_age=APPROVAL_SESSION_S, path=path, httponly=True, samesite="strict")
    return response


async def _form(ask: Ask) -> dict[str, str]:
    if ask.header("content-type").partition(";")[0].strip().lower() == "application/json":
        given: Any = await ask.json()
        if not isinstance(given, dict):
            raise bad("invalid_json", "the body is not a JSON object: send an object with the fields of the form")
        return {name: value for name, value in given.items() if isinstance(value, str)}
    try:
        text = (await ask.bytes(MAX_APPROVAL_FORM_BYTES)).decode()
    except UnicodeDecodeError as error:
        raise bad("invalid_form", f"byte {error.start} of the form is not UTF-8: encode the form as UTF-8") from None
    try:
        return {name: values[0] for name, values in parse_qs(text, max_num_fields=_MAX_FIELDS).items()}
    except ValueError:
        raise bad("invalid_form", f"the form has too many fields: send at most {_MAX_FIELDS} fields") from None
