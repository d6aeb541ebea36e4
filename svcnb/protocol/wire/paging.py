"""The queries of list endpoints."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.limits import DEFAULT_PAGE_NUMBER, DEFAULT_PAGE_SIZE
from svcnb.protocol.wire.base import Request
from svcnb.protocol.wire.values import GroupId, QueryGroupId, QueryNumber


class PageQuery(Request):
    """Which part of a list is wanted.

    A page size larger than the list answers the whole list, whatever the page number (reference facts 2.4.1).
    """

    page_number: QueryNumber = Field(DEFAULT_PAGE_NUMBER, description="Page, counted from 0.")
    page_size: QueryNumber | None = Field(None, description=f"Entries a page; {DEFAULT_PAGE_SIZE} when absent.")


class ActionsQuery(PageQuery):
    """Query of ``list_actions``."""

    group_id: GroupId | None = Field(
        None, description="Only this group's actions; absent or 0 means all of the account."
    )


class GroupWalletsQuery(PageQuery):
    """Query of ``list_wallets_in_group``."""

    group_id: QueryGroupId = Field(description="The group.")
