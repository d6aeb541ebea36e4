"""Admission check that predicts whether the chain accepts a sequence of transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from svcnb.emulator.chain.transactions import Transaction

Request = Callable[..., Awaitable[Any]]


async def problems(transactions: Sequence[Transaction], request: Request) -> list[str | None]:
    """Returns one entry per transaction: the reason for its rejection, or None if the chain accepts the transaction.

    Args:
        transactions: Transactions, in the order in which the caller wants to send them.
        request: Function that sends a request to the chain.
    """
    senders = list({transaction.sender for transaction in transactions})
    states = await asyncio.gather(*(_state(sender, request) for sender in senders))
    known = dict(zip(senders, states, strict=True))
    accepted: set[bytes] = set()
    found: list[str | None] = []
    for transaction in transactions:
        nonce, balance = known[transaction.sender]
        # The sender repeated a pending transaction. The first transaction remains accepted.
        problem = "already known" if transaction.hash in accepted else _problem(transaction, nonce, balance)
        if problem is None:
            known[transaction.sender] = (nonce + 1, balance - transaction.cost)
            accepted.add(transaction.hash)
        found.append(problem)
    return found


async def _state(sender: str, request: Request) -> tuple[int, int]:
    nonce, balance = await asyncio.gather(
        request("eth_getTransactionCount", sender, "latest"),
        request("eth_getBalance", sender, "latest"),
    )
    return int(nonce, 16), int(balance, 16)


def _problem(transaction: Transaction, nonce: int, balance: int) -> str | None:
    """Returns the reason why the chain rejects a transaction now, or None if the chain accepts the transaction."""
    if transaction.nonce < nonce:
        return f"nonce too low: next nonce {nonce}, tx nonce {transaction.nonce}"
    if transaction.nonce > nonce:
        return (
            f"nonce too high: next nonce {nonce}, tx nonce {transaction.nonce}. Send transactions in "
            "order, because this node does not queue them."
        )
    if transaction.cost > balance:
        return (
            f"insufficient funds for gas * price + value: {transaction.sender} has {balance} wei, "
            f"the transaction may cost {transaction.cost} wei"
        )
    return None
