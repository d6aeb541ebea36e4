"""HTML pages for people: sign-in, and approval of a client."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.responses import HTMLResponse

_SECURITY: Final = {
    # Scripts are not allowed. The form may only post to this service. No other site may frame the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    # Not no-referrer: with that policy, browsers send the origin null with the form.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; place-items: center; min-height: 90vh; margin: 0; }
main { width: min(30rem, 90vw); }
code { overflow-wrap: anywhere; }
label, input { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input { margin: .25rem 0 1rem; padding: .5rem; }
button { font: inherit; padding: .5rem 1.5rem; }
"""


def page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """An HTML page.

    Args:
        title: Plain text.
        body: HTML, already escaped.
        status: HTTP status.
    """
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(html, status, headers=_SECURITY)


def approval(challenge: str, email: str, csrf: str) -> HTMLResponse:
    """The page that asks whether a client may use the signed-in user's triggers."""
    return page(
        "Approve a client?",
        f"<p>You are signed in as <strong>{escape(email)}</strong>. A client asks to create, change, run and delete "
        "your triggers. Approve only if you have just started it yourself.</p>"
        f"<p>Its challenge: <code>{escape(challenge)}</code></p>"
        '<form method="post" action="authorize">'
        f'<input type="hidden" name="challenge" value="{escape(challenge)}">'
        f'<input type="hidden" name="csrf" value="{escape(csrf)}">'
        '<label>Label, to recognise it later (optional)<input name="label" maxlength="200" autocomplete="off"></label>'
        '<button type="submit">Approve</button></form>',
    )


def approved(email: str) -> HTMLResponse:
    """The page that confirms an approval in a browser."""
    return page(
        "Approved", f"<p>The client now uses the triggers of <strong>{escape(email)}</strong>. Close this page.</p>"
    )


def sign_in(target: str, *, without_token: str | None) -> HTMLResponse:
    """The page that asks who the user is.

    Args:
        target: Where to go afterwards, a path of this service.
        without_token: E-mail address of the user who needs no control token; None if every user does.
    """
    label, required = "Control token of this emulator", " required"
    if without_token is not None:
        label, required = f"{label} (not needed for {escape(without_token)})", ""
    token = f'<label>{label}<input name="token" type="password" autocomplete="off"{required}></label>'
    return page(
        "Sign in",
        "<p>This emulator sends no mail. Its control token proves that you may sign in.</p>"
        '<form method="post" action="login">'
        f'<input type="hidden" name="next" value="{escape(target)}">'
        '<label>E-mail<input name="email" type="email" required autocomplete="email"></label>'
        f'{token}<button type="submit">Sign in</button></form>',
    )


def problem(message: str, status: int) -> HTMLResponse:
    """The page that shows an error."""
    return page("That did not work", f"<p>{escape(message)}</p>", status)
