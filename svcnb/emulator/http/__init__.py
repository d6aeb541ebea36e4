"""HTTP layer, with routing, guards, bodies, responses, and the OpenAPI description.

One table of `Endpoint` objects determines the routes, the order of checks and the OpenAPI description, so they always
agree. Guards run before the server reads the body (docs/service/http.md#order-of-checks). Frameworks that parse the
body first do not support this order. These frameworks also start and respond more slowly.
"""
