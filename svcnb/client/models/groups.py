"""Models of a group and its contents."""

from __future__ import annotations

from pydantic import Field, field_validator

from svcnb.client import display
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.base import Model
from svcnb.client.models.wallets import Wallet
from svcnb.protocol.wire.values import parse_group_id


class Group(Model):
    """Set of actions and wallets. A usage key that can execute in a group can run the group's actions."""

    id: int
    """Number of the group in its account, starting at 1. The service never reuses the number of a deleted group."""

    name: str = ""
    """Name from the creation or the last update. Permissions refer to the group by its number, not by its name."""

    description: str = ""
    """Purpose of the group, as the account described it. Empty if the account gave no description."""

    @field_validator("id", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        # Depending on the service, the id is a number, a decimal string, or 32 bytes in hex.
        return value if not isinstance(value, str) else parse_group_id(value)


class GroupContents(Model):
    """Actions and wallets that one group permits."""

    group_id: int
    """Number of the group that permits these actions and wallets; see `Group.id`."""

    actions: tuple[RegisteredAction, ...] = Field(default=())
    """Actions that the group permits."""

    wallets: tuple[Wallet, ...] = Field(default=())
    """Wallets that the group permits."""

    @property
    def any_action(self) -> bool:
        """True if the group permits every action."""
        return any(action.is_wildcard for action in self.actions)

    @property
    def any_wallet(self) -> bool:
        """True if the group permits every wallet of the account."""
        return any(wallet.is_wildcard for wallet in self.wallets)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("action", item.name or ("every action" if item.is_wildcard else item.hashed_cid)) for item in self.actions
        ]
        rows += [("wallet", "every wallet" if item.is_wildcard else item.wallet_address) for item in self.wallets]
        return display.record(f"Group {self.group_id}", rows, note="" if rows else "permits no actions and no wallets")
