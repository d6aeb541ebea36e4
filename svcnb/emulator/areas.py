"""Application with the endpoints of all packages. Each endpoint receives the components that it uses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from svcnb.emulator.http.body import ToleratedRequests
from svcnb.emulator.http.middleware import Middleware
from svcnb.emulator.http.routing import Dispatcher, Router

if TYPE_CHECKING:
    from svcnb.emulator.http.routing import Endpoint
    from svcnb.emulator.service import Service


def make_app(service: Service) -> Middleware:
    """Returns the ASGI application. The function does not use the event loop, so any thread can call it.

    Args:
        service: The components of the emulator. The components can start later, but must run before the first request.
    """
    settings = service.settings
    tolerated = ToleratedRequests()
    dispatcher = Dispatcher(tolerated, exact_types=settings.exact_types, max_body_bytes=settings.max_body_bytes)
    first = first_endpoints(service)
    router = Router(dispatcher, first, others=lambda: other_endpoints(service, first, tolerated))
    return Middleware(
        router,
        settings=settings,
        clock=service.clock,
        randomness=service.randomness,
        quiesce=service.quiesce,
        address=service.address,
    )


def first_endpoints(service: Service) -> list[Endpoint]:
    """Returns the endpoints needed to create an account and run an action."""
    from svcnb.emulator.accounts.accounts import Accounts
    from svcnb.emulator.accounts.config import NodeConfig
    from svcnb.emulator.actions.routes import RunActions

    accounts = Accounts(
        contract=service.contract,
        custody=service.custody,
        processor=service.processor,
        ledger=service.ledger,
        access=service.access,
        faults=service.faults,
        store=service.store,
        settings=service.settings,
    )
    actions = RunActions(
        settings=service.settings,
        engine=service.engine,
        permissions=service.permissions,
        custody=service.custody,
        network=service.network,
        packages=service.packages,
        randomness=service.randomness,
        sources=service.sources,
        runs=service.runs,
        clock=service.clock,
        faults=service.faults,
        load=service.load,
        access=service.access,
        billing=service.billing,
    )
    config = NodeConfig(
        settings=service.settings,
        chain=service.chain,
        engine=service.engine,
        load=service.load,
        address=service.address,
    )
    return [*accounts.endpoints(), *actions.endpoints(), *config.endpoints()]


def other_endpoints(service: Service, first: list[Endpoint], tolerated: ToleratedRequests) -> list[Endpoint]:
    """Returns the endpoints that `first_endpoints` does not return. The call imports the modules of these endpoints.

    Args:
        service: The components of the emulator.
        first: The result of `first_endpoints`, for the OpenAPI description.
        tolerated: Counts of accepted requests that the live service rejects, for the control plane.
    """
    from svcnb.emulator.billing.processor_routes import ProcessorPages
    from svcnb.emulator.billing.routes import Credits
    from svcnb.emulator.http import pages
    from svcnb.emulator.http.openapi import describe
    from svcnb.emulator.http.rpc import rpc_endpoint
    from svcnb.emulator.triggers import approval, routes as triggers, webhook_routes
    from svcnb.emulator.triggers.requests import Rows

    billing = Credits(
        processor=service.processor,
        ledger=service.ledger,
        guards=service.billing,
        vocabulary=service.settings.vocabulary,
    )
    rows = Rows(service.get_triggers, service.faults)
    others = [
        *_resources(service),
        *billing.endpoints(),
        *ProcessorPages(service.processor).endpoints(),
        *_control_plane(service, tolerated),
        rpc_endpoint(service.chain.rpc, service.faults, service.settings.max_body_bytes),
        *triggers.endpoints(rows),
        *webhook_routes.endpoints(rows),
        *approval.endpoints(rows),
    ]
    described = [*first, *others]
    return [*others, *pages.endpoints(cache(lambda: describe(described, service.settings.vocabulary)))]


def _resources(service: Service) -> list[Endpoint]:
    from svcnb.emulator.accounts import routes

    return routes.endpoints(
        settings=service.settings,
        contract=service.contract,
        creation_order=service.creation_order,
        custody=service.custody,
        clock=service.clock,
        permissions=service.permissions,
        access=service.access,
        billing=service.billing,
        envelopes=service.envelopes,
    )


def _control_plane(service: Service, tolerated: ToleratedRequests) -> list[Endpoint]:
    from svcnb.emulator.control.guards import control_guard
    from svcnb.emulator.control.routes import ControlPlane

    return ControlPlane(
        settings=service.settings,
        guard=control_guard(service.control_token),
        clock=service.clock,
        chain=service.chain,
        ledger=service.ledger,
        processor=service.processor,
        engine=service.engine,
        network=service.network,
        run_log=service.runs,
        saved=service.snapshots,
        fault_injection=service.faults,
        tolerated=tolerated,
        triggers=service.get_triggers,
        addresses=service.addresses,
    ).endpoints()
