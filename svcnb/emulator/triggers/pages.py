"""HTML pages for sign-in and for the approval of clients."""

from __future__ import annotations

from html import escape
from typing import Final

from starlette.responses import HTMLResponse

from svcnb.emulator.errors import as_sentence

_SECURITY: Final = {
    # The policy allows no scripts, no forms to other sites, and no embedding in frames.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    # Do not use no-referrer, because browsers would then send the origin null with the form.
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
    """Returns an HTML page.

    Args:
        title: Title of the page, as plain text.
        body: Content of the page, as escaped HTML.
        status: HTTP status.
    """
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(html, status, headers=_SECURITY)


def approval(challenge: str, email: str, csrf: str) -> HTMLResponse:
    """Returns the page on which a signed-in user approves a client."""
    return page(
        "Approve a client?",
        f"<p>You are signed in as <strong>{escape(email)}</strong>. A client requests permission to create, "
        "change, run and delete your triggers. Approve the client only if you just started it.</p>"
        f"<p>Challenge: <code>{escape(challenge)}</code></p>"
        '<form method="post" action="authorize">'
        f'<input type="hidden" name="challenge" value="{escape(challenge)}">'
        f'<input type="hidden" name="csrf" value="{escape(csrf)}">'
        '<label>Label (optional)<input name="label" maxlength="200" autocomplete="off"></label>'
        '<button type="submit">Approve</button></form>',
    )


def approved(email: str) -> HTMLResponse:
    """Returns the page that confirms an approval."""
    return page(
        "Approved", f"<p>The client can now use the triggers of <strong>{escape(email)}</strong>. Close this page.</p>"
    )


def sign_in(target: str, *, without_token: str | None) -> HTMLResponse:
    """Returns the sign-in page.

    Args:
        target: Relative URL of the page that the browser opens after the sign-in.
        without_token: E-mail address of a user who does not need the control token, or None.
    """
    label, required = "Control token of this emulator", " required"
    if without_token is not None:
        label, required = f"{label} (not needed for {escape(without_token)})", ""
    token = f'<label>{label}<input name="token" type="password" autocomplete="off"{required}></label>'
    return page(
        "Sign in",
        "<p>This emulator does not send e-mail. To sign in, enter the control token of the emulator.</p>"
        '<form method="post" action="login">'
        f'<input type="hidden" name="next" value="{escape(target)}">'
        '<label>E-mail<input name="email" type="email" required autocomplete="email"></label>'
        f'{token}<button type="submit">Sign in</button></form>',
    )


def problem(message: str, status: int) -> HTMLResponse:
    """Returns the page that shows an error message as a sentence."""
    return page("Error", f"<p>{escape(as_sentence(message))}</p>", status)
