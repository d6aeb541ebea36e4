"""One learner's account as it was at a moment, and the way back to it, while the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from svcnb.toolkit.plan.observed import Observed

if TYPE_CHECKING:
    from svcnb.client import Client


class SavedGroup(BaseModel):
    """A group and what it permitted."""

    name: str = ""
    description: str = ""
    actions: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()


class Saved(BaseModel):
    """What an account held. Holds no secret.

    Attributes:
        credit_cents: Credit, in cents.
        groups: By number.
        keys: Permissions of the usage keys, by hash.
        actions: Hashes of the registered actions.
    """

    credit_cents: int = 0
    groups: dict[int, SavedGroup] = Field(default_factory=dict)
    keys: dict[str, dict[str, Any]] = Field(default_factory=dict)
    actions: tuple[str, ...] = ()

    @classmethod
    def of(cls, svc: Client) -> Saved:
        """Reads an account. Free."""
        seen = Observed.of(svc)
        return cls(
            credit_cents=svc.billing.balance().available_cents,
            groups={
                number: SavedGroup(
                    name=group.name,
                    description=group.description,
                    actions=tuple(sorted(seen.members[number].actions)),
                    wallets=tuple(sorted(seen.members[number].wallets)),
                )
                for number, group in seen.groups.items()
            },
            keys={hashed: key.permissions() for hashed, key in seen.keys.items()},
            actions=tuple(sorted(seen.actions)),
        )


class Restored(BaseModel):
    """What going back did, and what it could not do.

    Attributes:
        changes: How many things were changed.
        lost: What cannot come back, in words: removed keys, whose secrets nobody has, and groups under their number.
    """

    changes: int = 0
    lost: list[str] = Field(default_factory=list)


def restore(svc: Client, saved: Saved) -> Restored:
    """Makes an account hold again what it held. Wallets stay: the service forgets none.

    Args:
        svc: A client with the account's key.
        saved: What it held.
    """
    seen, done = Saved.of(svc), Restored()
    for number in seen.groups.keys() - saved.groups.keys():
        svc.groups.remove(number)
        done.changes += 1
    for hashed in seen.keys.keys() - saved.keys.keys():
        svc.usage_keys.remove(hashed)
        done.changes += 1
    for hashed in set(seen.actions) - set(saved.actions):
        svc.actions.delete(hashed)
        done.changes += 1
    for number, group in saved.groups.items():
        if number not in seen.groups:
            anew = svc.groups.create(**group.model_dump())
            done.lost.append(f"group {number} {group.name!r} has the number {anew.id} now; keys name the old one")
            done.changes += 1
        elif seen.groups[number] != group:
            svc.groups.update(number, **group.model_dump())
            done.changes += 1
    for hashed, may in saved.keys.items():
        if hashed not in seen.keys:
            done.lost.append(f"usage key {hashed[:10]}… was removed, and nobody has its secret")
        elif seen.keys[hashed] != may:
            svc.usage_keys.update(hashed, **may)
            done.changes += 1
    return done
