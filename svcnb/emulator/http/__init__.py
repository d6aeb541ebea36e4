"""HTTP layer: routing, guards, bodies, answers, and the OpenAPI description.

One table of `Endpoint` objects determines the router, the order of checks and the OpenAPI description, so they always
agree. Guards run before the body is read (reference facts 2.1). Frameworks that parse bodies first cannot do that, and
they start and answer more slowly.
"""
