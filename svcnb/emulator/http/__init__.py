"""How a request becomes a call: routing, guards, bodies, answers, and the description of it all.

One table of `Endpoint` rows drives the router, the order of checks and the OpenAPI description, so none of them can
disagree. Guards run before the body is read (reference facts 2.1). Frameworks that parse bodies first cannot do that,
and they start and answer more slowly.
"""
