"""Executions as the emulator's control plane shows them; the service itself keeps no such history."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from svcnb.protocol.wire.base import Response


class ExecutionRun(Response):
    """One execution, also a failed or refused one."""

    request_id: str
    cid: str = Field(description="CID of the source.")
    api_key_hash: str = Field(description="Hash of the calling key, 0x + 64 hex digits.")
    billing_wallet: str = Field("", description="Who pays.")
    status: Literal["success", "failed", "refused"]
    http_status: int
    error: str | None = None
    error_kind: str | None = Field(None, description="throw, syntax, timeout, memory, permission, ...")
    logs: str = ""
    trace: Any = Field(None, description="What the engine did: which engine, key operations, fetches, times.")
    cost_cents: int = 0
    started_at: float = Field(description="Unix seconds.")
    elapsed_ms: float = Field(description="Wall clock of the whole request, in milliseconds.")


class ExecutionRuns(Response):
    """Answer of ``GET /_emulator/runs``, newest first."""

    runs: list[ExecutionRun]
