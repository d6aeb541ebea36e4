"""HTML pages with the interactive API documentation and explanations of the errors.

This server serves all files, so the pages work without an internet connection. All links are relative, because a
proxy such as JupyterHub's can add a prefix to all paths.
"""

from __future__ import annotations

from collections.abc import Callable
from gzip import decompress
from html import escape
from importlib.resources import files
from typing import Any, Final

from starlette.responses import HTMLResponse, RedirectResponse, Response

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import answered
from svcnb.emulator.http.middleware import DOCS
from svcnb.emulator.http.routing import API, Call, Endpoint, Handler
from svcnb.emulator.platform.offload import in_thread
from svcnb.protocol.error_codes import ERROR_CODES
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND, MANAGEMENT_COST_CENTS, MIN_PAYMENT_CENTS

_ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon-32x32.png": "image/png",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_SWAGGER: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title>
<link rel="icon" type="image/png" href="swagger-ui/favicon-32x32.png">
<link rel="stylesheet" href="swagger-ui/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<script src="swagger-ui/swagger-ui-bundle.js"></script>
<script src="swagger-ui/start.js"></script>
</body>
</html>
"""
_START: Final = """SwaggerUIBundle({
  url: new URL("../openapi.json", document.currentScript.src).href,
  dom_id: "#api",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""


def endpoints(description: Callable[[], dict[str, Any]]) -> list[Endpoint]:
    """Returns the endpoints of the pages. The OpenAPI description does not contain these endpoints.

    Args:
        description: Function that creates the OpenAPI description of this server.
    """

    async def openapi(_call: Call, _given: None) -> Response:
        return await answered(await in_thread(description))

    return [
        Endpoint("GET", "/", _redirect(f"{API}/swagger-ui"), described=False),
        Endpoint("GET", "/openapi.json", _redirect(f"{API}/openapi.json"), described=False),
        Endpoint("GET", f"{API}/openapi.json", openapi, described=False),
        Endpoint("GET", f"{API}/swagger-ui", _swagger, described=False),
        Endpoint("GET", f"{API}/swagger-ui/", _swagger, described=False),
        Endpoint("GET", f"{API}/swagger-ui/{{file}}", _asset, described=False),
        Endpoint("GET", f"{DOCS}/{{page}}", _docs, described=False),
    ]


def _redirect(path: str) -> Handler:
    async def redirect(_call: Call, _given: None) -> Response:
        # The path is relative to the root page, so it also works behind a proxy's prefix.
        return RedirectResponse(f".{path}", 303)

    return redirect


async def _swagger(call: Call, _given: None) -> Response:
    # Links are relative to the folder in the browser's address.
    page = _SWAGGER.replace('="swagger-ui/', '="./') if call.request.url.path.endswith("/") else _SWAGGER
    return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"})


async def _asset(call: Call, _given: None) -> Response:
    name = call.path["file"]
    if name == "start.js":
        return Response(_START, media_type="text/javascript; charset=utf-8")
    media_type = _ASSETS.get(name)
    if media_type is None:
        raise _no_page(call)
    headers = {"Cache-Control": "max-age=3600", "Vary": "Accept-Encoding"}
    folder = files("svcnb.emulator").joinpath("static", "swagger")
    if media_type.startswith("image/"):
        return Response(folder.joinpath(name).read_bytes(), media_type=media_type, headers=headers)
    data = folder.joinpath(f"{name}.gz").read_bytes()  # the build compresses these files
    if "gzip" in call.request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        data = await in_thread(decompress, data)
    return Response(data, media_type=media_type, headers=headers)


async def _docs(call: Call, _given: None) -> Response:
    page = _PAGES.get(call.path["page"])
    if page is None:
        raise _no_page(call)
    title, body = page
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": "default-src 'none'"})


def _no_page(call: Call) -> StructuredError:
    return StructuredError(
        404,
        f"the page {call.request.url.path[:200]} does not exist",
        fix="See /core/v1/openapi.json for a description of the API.",
    )


_ERROR_ROWS: Final = "".join(
    f'<tr id="{row.code}"><td>{row.status}</td><td><code>{row.code}</code></td><td>{escape(row.cause)}</td>'
    f"<td>{'yes, later' if row.retry else 'only after a change'}</td></tr>"
    for row in ERROR_CODES.values()
)
_PAGES: Final = {
    "errors": (
        "Errors",
        (
            "<p>Check the status first. For an error of authentication, billing, routing or parsing, the body is an "
            "object. For an error inside an endpoint, the body is a JSON string. Failed requests are free. If the "
            "setting charge_failed_runs is enabled, runs that end in an error cost credit.</p>"
            f"<table><tr><th>Status</th><th>error</th><th>Cause</th><th>Try again?</th></tr>{_ERROR_ROWS}</table>"
        ),
    ),
    "authentication": (
        "Authentication",
        (
            '<p id="unauthorized">Send the key in the header <code>X-Api-Key</code> or as '
            "<code>Authorization: Bearer</code>. <code>new_account</code> returns the account key once, and "
            "<code>add_usage_api_key</code> returns a usage key once. A request with a deleted key returns 401.</p>"
        ),
    ),
    "pricing": (
        "Pricing",
        (
            f'<p id="payment_required">A management call costs {MANAGEMENT_COST_CENTS} cent. A run costs '
            f"{EXECUTION_COST_CENTS_PER_SECOND} cent per whole second, at least {EXECUTION_COST_CENTS_PER_SECOND} "
            "cent. Calls that only read data are free. By default, failed calls are also free. "
            f"The smallest payment is {MIN_PAYMENT_CENTS} cents.</p>"
        ),
    ),
}
