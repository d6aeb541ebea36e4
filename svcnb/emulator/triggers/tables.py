"""Tables of the triggers service. Every new database contains these tables, even before other modules are imported.

Times are Unix seconds of the emulator's clock. JSON columns contain text with ASCII escapes, so that all databases can
store any string from a webhook, including NUL and lone surrogates.
"""

from __future__ import annotations

from svcnb.emulator.platform.schema import Table

Table("trigger_users", "id VARCHAR NOT NULL PRIMARY KEY, email VARCHAR NOT NULL UNIQUE")

# The table stores only the challenge of a token, which is its SHA-256 hash.
Table(
    "trigger_tokens",
    """
    seq NUMBERED,
    id VARCHAR NOT NULL UNIQUE,
    challenge VARCHAR NOT NULL UNIQUE,
    user_id VARCHAR NOT NULL REFERENCES trigger_users (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    created_at FLOAT NOT NULL,
    last_used_at FLOAT,
    revoked_at FLOAT
    """,
)

# The last three columns are positions of the scanners. `watermark` is the last tick with a run, or the initial time.
# `next_block` is the next block to read. `last_block_hash` is the hash of the block before `next_block`. If this hash
# changes, the scanner detects a reorganisation. The hash is null after a poll that read only a part of `next_block`.
Table(
    "triggers",
    """
    seq NUMBERED,
    id VARCHAR NOT NULL UNIQUE,
    user_id VARCHAR NOT NULL REFERENCES trigger_users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind VARCHAR NOT NULL,
    action_code TEXT NOT NULL,
    action_cid VARCHAR NOT NULL,
    default_params TEXT NOT NULL,
    sealed_usage_key TEXT NOT NULL,
    account_address TEXT,
    max_runs_per_minute INTEGER,
    max_queued_runs INTEGER,
    config TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL,
    watermark FLOAT NOT NULL,
    next_block BIGINT,
    last_block_hash VARCHAR
    """,
    ix_triggers_user_id="(user_id)",
    ix_triggers_kind="(kind)",
)

# Queues read the oldest unfinished run. An index keeps this read fast even if the history is long.
Table(
    "trigger_runs",
    """
    seq NUMBERED,
    id VARCHAR NOT NULL UNIQUE,
    trigger_id VARCHAR NOT NULL REFERENCES triggers (id) ON DELETE CASCADE,
    source VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    interruptions INTEGER NOT NULL,
    input TEXT,
    response TEXT,
    error TEXT,
    started_at FLOAT NOT NULL,
    finished_at FLOAT,
    next_attempt_at FLOAT
    """,
    trigger_runs_open="(trigger_id, seq) WHERE finished_at IS NULL",
    trigger_runs_history="(trigger_id, seq)",
    trigger_runs_rate="(trigger_id, source, started_at)",
)
