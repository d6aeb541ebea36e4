"""Query strings of list endpoints."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from svcnb.protocol.limits import DEFAULT_PAGE_NUMBER, DEFAULT_PAGE_SIZE
from svcnb.protocol.wire.complete import CompleteRequest
from svcnb.protocol.wire.values import OptionalQueryGroupId, QueryGroupId, QueryNumber


class PageQuery(CompleteRequest):
    """Query for one page of a list.

    If the page size is larger than the list, every page number returns the whole list (docs/service/http.md#paging).
    """

    required_by_service: ClassVar = ("page_number", "page_size")

    page_number: QueryNumber = Field(DEFAULT_PAGE_NUMBER, description="Number of the page, counted from 0.")
    page_size: QueryNumber | None = Field(
        None, description=f"Number of entries per page. Default: {DEFAULT_PAGE_SIZE}."
    )


class ActionsQuery(PageQuery):
    """Query of ``list_actions``, for all actions or for the actions of one group."""

    group_id: OptionalQueryGroupId | None = Field(
        None,
        description="Id of the group whose actions the service lists. Without this parameter, or with 0, the service "
        "lists the account's registered actions.",
    )


class GroupWalletsQuery(PageQuery):
    """Query of ``list_wallets_in_group``. The query must contain a group id."""

    group_id: QueryGroupId = Field(description="Id of the group.")
