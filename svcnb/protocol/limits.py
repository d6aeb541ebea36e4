"""Numeric limits and defaults of the service, the emulator, the client and the workshop.

The docs, error messages, configuration endpoint, runtime and tests read these constants. The names of the constants
contain their units.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# --- money (docs/service/billing.md#prices) --------------------------------------------------------------------------
MANAGEMENT_COST_CENTS: Final = 1
EXECUTION_COST_CENTS_PER_SECOND: Final = 1
MIN_PAYMENT_CENTS: Final = 500
MAX_PAYMENT_CENTS: Final = 99_999_999
"""Maximum amount of one payment in cents: eight digits, as with card processors."""
MAX_CREDIT_CENTS: Final = 10**9
"""Maximum credit that the emulator adds at once without a payment, in cents."""
MAX_PAYMENT_DELAY_S: Final = 30 * 24 * 3600
MAX_PROCESSOR_BODY_BYTES: Final = 16 * 1024
"""Maximum size of a request to the simulated payment processor, in bytes."""
EXECUTION_FUNDS_CHECK_MS: Final = 5_000
PAYMENT_PACKAGES_CENTS: Final = (500, 1000, 2500, 5000)

# --- identifiers (docs/service/keys.md#content-identifiers) ----------------------------------------------------------
CID_CHUNK_BYTES: Final = 262_144
CID_MAX_LINKS: Final = 174

# --- signatures (docs/service/signatures.md#rules-of-a-signature) ----------------------------------------------------
MAX_TYPED_DATA_BYTES: Final = 4_096
MAX_SIGNATURE_BYTES: Final = 4_096
ISSUED_AT_WINDOW_S: Final = 300
MAX_ISSUED_AT: Final = 2**63 - 1
CONTRACT_SIGNATURE_GAS: Final = 1_000_000
MAX_TYPED_DATA_DEPTH: Final = 32
"""Maximum depth of structs and arrays in a message that the client signs."""

# --- contract (docs/service/contract.md#writes) ----------------------------------------------------------------------
MAX_GROUP_ENTRIES: Final = 10
MAX_KEY_GROUPS: Final = 50
MAX_CHAIN_TEXT_BYTES: Final = 25 * 1024
"""Maximum size of a name and its description together, in bytes of UTF-8.

A transaction of a payer has a gas limit of 25,000,000. Writing a new storage word of 32 bytes costs 22,100 gas
(EIP-2929). Strings of this size and the largest permission lists fit into one transaction."""
USAGE_KEY_LIFETIME_S: Final = 10 * 365 * 24 * 3600
USAGE_KEY_CHAIN_BALANCE: Final = 10_000_000

# --- HTTP (docs/service/http.md#value-formats, docs/service/http.md#overload-and-transport) --------------------------
MAX_BODY_BYTES: Final = 10 * 1024 * 1024
MAX_CONNECTIONS: Final = 1_000
HEAD_TIMEOUT_S: Final = 15.0
"""Maximum time in seconds to receive the headers of a request.

For the first request on a connection, this time starts when the connection opens. For each later request, it starts
with the request's first byte.
"""
BODY_TIMEOUT_S: Final = 60.0
"""Maximum time in seconds to receive a request body."""
WRITE_TIMEOUT_S: Final = 60.0
"""Maximum time in seconds for a client to read a response that is larger than the buffers."""
MAX_HEAD_BYTES: Final = 128 * 1024
MAX_HEADERS: Final = 256
MAX_PIPELINED_REQUESTS: Final = 16
MAX_QUERY_PARAMETERS: Final = 100
MAX_BODIES_BYTES: Final = 128 * 1024 * 1024
"""Maximum total size of all request bodies in the emulator's memory at the same time, in bytes."""
MAX_BODIES_BYTES_PER_CALLER: Final = 64 * 1024 * 1024
"""Maximum total size of one credential's request bodies at the same time, in bytes.

Requests without a credential share one limit."""
DEFAULT_PAGE_NUMBER: Final = 0
DEFAULT_PAGE_SIZE: Final = 10
MAX_U64: Final = 2**64 - 1
JS_PARAMS_ADVICE_BYTES: Final = 64 * 1024
MAX_JSON_VALUES: Final = 250_000
"""Maximum number of values in one JSON body, so that parsing takes milliseconds, not seconds."""
MAX_JSON_DEPTH: Final = 200
"""Maximum nesting depth of one JSON body, the limit of the parser."""

# --- chain node (docs/service/contract.md#json-rpc) ------------------------------------------------------------------
RPC_TIMEOUT_S: Final = 30.0
MAX_RPC_BATCH: Final = 100
MAX_RPC_DEPTH: Final = 64
"""Maximum nesting depth of the parameters of a JSON-RPC request. The node's own limit is 128."""
MAX_RPC_LOGS: Final = 10_000
"""Maximum number of logs in one response, the same as with Infura and other providers of Geth nodes.

The logs of a single block can exceed the limit, because callers cannot request a smaller range."""
MAX_RPC_RESPONSE_BYTES: Final = 25_000_000
"""Maximum size of one response in bytes, the same as Geth's limit for a batch (`BatchResponseMaxSize`)."""
MAX_TRANSACTION_BYTES: Final = 131_072
"""Maximum length of a signed transaction in bytes, as in the pools of public nodes (`txMaxSize` of Geth)."""
MAX_CALL_GAS: Final = 50_000_000
"""Maximum gas of one call. As in Geth, the emulator reduces a higher value to this limit, because wallets send
higher values."""
MAX_FEE_HISTORY_BLOCKS: Final = 1_024
"""Maximum number of blocks of one eth_feeHistory request. A very large number crashes the node."""
MAX_FEE_HISTORY_PERCENTILES: Final = 100
"""Maximum number of percentiles of one eth_feeHistory request.

Each percentile must be between 0 and 100. The node does not respond to a request with a very large percentile."""

# --- triggers (docs/service/triggers.md#sources-of-runs, docs/service/triggers.md#errors) -----------------------------
SCHEDULE_SCAN_S: Final = 30
CHAIN_EVENT_SCAN_S: Final = 15
CHAIN_CONFIRMATIONS: Final = 12
CHAIN_EVENT_SCAN_BLOCKS: Final = 500
CHAIN_EVENT_LOOK_BACK_BLOCKS: Final = 100
MIN_TRIGGERS_TOKEN: Final = 20
MAX_TRIGGERS_TOKEN: Final = 1_024
MAX_TOKEN_LABEL_CHARS: Final = 200
APPROVAL_SESSION_S: Final = 7 * 24 * 3600
MAX_APPROVAL_FORM_BYTES: Final = 16_384
RATE_WINDOW_S: Final = 60
WEBHOOK_POSTS_PER_ADDRESS: Final = 60
WEBHOOK_POSTS_PER_USER: Final = 120
RUN_RETRIES: Final = 3
RUN_RETRY_DELAYS_S: Final = (1, 5, 30)
MAX_TOPIC_FILTERS: Final = 3
MAX_WEBHOOK_BYTES: Final = 262_144
DEFAULT_RUNS_PER_MINUTE: Final = 60
DEFAULT_QUEUED_RUNS: Final = 100
RUNS_PAGE_DEFAULT: Final = 50
RUNS_PAGE_MAX: Final = 100
KEPT_TRIGGER_RUNS: Final = 10_000
MAX_RUN_ERROR_CHARS: Final = 65_536

# --- the emulator's clock (times that block timestamps, HTTP dates and RFC 3339 can express, with a margin) -----------
CLOCK_EARLIEST_S: Final = 0  # 1970-01-01T00:00:00Z
CLOCK_LATEST_S: Final = 32_503_680_000  # 3000-01-01T00:00:00Z

# --- resources shared by all runs -----------------------------------------------------------------------------------
MAX_OUTBOUND: Final = 100
"""Maximum number of concurrent outbound requests of all accounts together."""
MAX_OUTBOUND_PER_ACCOUNT: Final = 20
MAX_OUTBOUND_PER_RUN: Final = 10
OUTBOUND_WAIT_S: Final = 30
"""Maximum time that an outbound request waits in the queue, in seconds.

After this time, the request fails with an error that the action can catch."""
MAX_HELD_BYTES: Final = 160 * 1024 * 1024
"""Maximum size in memory of the responses to outbound requests, for all accounts together, in bytes."""
MAX_HELD_BYTES_PER_ACCOUNT: Final = 64 * 1024 * 1024
SMALL_ANSWER_BYTES: Final = 64 * 1024
"""Maximum size in bytes of a response that does not count towards `MAX_HELD_BYTES`."""
OUTBOUND_CONNECT_S: Final = 10.0
MAX_REDIRECTS: Final = 20
"""Maximum number of redirects of one outbound request, as in the Fetch standard (HTTP-redirect fetch)."""
MAX_PENDING_OPERATIONS: Final = 64
"""Maximum number of pending operations of one run. At the limit, the service stops reading from the isolate."""
MAX_PENDING_OPERATION_BYTES: Final = 4 * 1024 * 1024
MAX_OPERATION_BYTES: Final = 4 * 1024 * 1024
"""Maximum length of the arguments of one operation as JSON, in bytes. The engine rejects longer arguments."""
MAX_RESPONSE_DEPTH: Final = 128
"""Maximum nesting depth of an action's response that the service parses as JSON. A deeper response stays a string."""
MAX_MODULE_BYTES: Final = 10 * 1024 * 1024
MAX_REPEATABLE_BYTES: Final = 8 * 1024 * 1024
"""Maximum total length of the operations and results that the engine ``auto`` stores to repeat a run, in bytes.

If a run with side effects exceeds this length, the engine cannot repeat the run."""
MAX_RECORDING_BYTES: Final = 64 * 1024 * 1024
"""Maximum total length of the bodies in one recording, in bytes.

The bodies stay in memory while the recording is in use."""
MAX_RECORDING_FILE_BYTES: Final = 4 * MAX_RECORDING_BYTES
"""Maximum size of a recording file in bytes. UTF-8 needs at most four bytes per character."""

# --- stored data -------------------------------------------------------------------------------------------------
MAX_TRACE_EVENTS: Final = 1_000
MAX_TRACE_METHOD_CHARS: Final = 64
MAX_TRACE_HOST_CHARS: Final = 255
MAX_TRACE_TEXT_CHARS: Final = 1_000
KEPT_EXECUTIONS: Final = 10_000
KEPT_EXECUTION_BYTES: Final = 64 * 1024 * 1024
"""Maximum size of the logs, errors and traces in the execution history, in bytes.

Above this size, the service deletes the oldest entries.
"""
MAX_EXECUTIONS_PAGE: Final = 1_000
MAX_EXECUTIONS_PAGE_BYTES: Final = 8 * 1024 * 1024
"""Maximum size of one page of runs, in bytes. The limit prevents responses that contain the whole history."""
KEPT_SOURCE_BYTES: Final = 64 * 1024 * 1024
"""Maximum total size of the cached sources for runs by CID, in bytes."""
MAX_PENDING_FAULTS: Final = 1_000
MAX_SNAPSHOT_NAME_CHARS: Final = 200
MAX_TRIGGERS_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of all triggers of one owner, in bytes: names, code, parameters, settings, keys and addresses."""
TRIGGER_BYTES: Final = 1_000
"""Number of bytes that each trigger adds to the size for `MAX_TRIGGERS_BYTES`, in addition to its strings."""
MAX_RUN_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of the response in bytes, when the action of a trigger runs at another service."""
MAX_OPEN_INPUT_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of the inputs of one owner's unfinished runs, in bytes."""
KEPT_TRIGGER_INPUT_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of the inputs and responses of one owner's finished runs, in bytes.

Above this size, the service deletes the inputs and responses of the oldest runs."""

# --- bounds of untrusted input -----------------------------------------------------------------------------------
MAX_MESSAGE_BYTES: Final = 1024 * 1024
"""Maximum length of a message that Encrypt accepts, in bytes. Decrypt accepts every result of Encrypt."""
MAX_FETCH_REQUEST_BYTES: Final = MAX_BODY_BYTES
"""Maximum length of the body of one outbound request, in bytes."""
MAX_FETCH_URL_CHARS: Final = 64 * 1024
"""Maximum length of the URL of an outbound request, in characters. Most servers accept less."""
MAX_FETCH_HEADER_CHARS: Final = 256 * 1024
"""Maximum total length of the headers of an outbound request, in characters. Most servers accept less."""
MAX_CID_CHARS: Final = 1_024
"""Maximum length of a CID in a key operation or a management call, in characters."""
MAX_SCANNED_SOURCE: Final = 256 * 1024
"""Maximum length of a source that the engine ``auto`` searches for names that ``fast`` does not support, in characters.

Longer sources run on v8."""

# --- client behaviour (docs/service/client.md#timeouts-and-retries) --------------------------------------------------
CLOCK_SKEW_WARNING_S: Final = 120
"""Difference between the clocks of client and server that causes a warning, in seconds.

A server rejects new signatures if the difference exceeds `ISSUED_AT_WINDOW_S`."""
RECEIPT_TIMEOUT_S: Final = 180.0
"""Maximum time that the client waits for the receipt of a transaction, in seconds."""
DEFAULT_BATCH_CONCURRENCY: Final = 16
MAX_BATCH_CONCURRENCY: Final = 256
KEPT_RECORDED_RUNS: Final = 2_000_000
"""Maximum number of runs in the run history. The history deletes the oldest excess runs, a thousand at a time."""
KEPT_RECORDED_DETAILS: Final = 200_000
"""Number of the newest runs for which the history keeps parameters, responses and logs."""
MAX_RECORDED_CHARS: Final = 16_384
"""Maximum length of stored parameters, responses and logs, in characters. The history truncates longer values."""

# --- workshop (docs/workshop.md#limits) ------------------------------------------------------------------------------
MAX_LEARNERS: Final = 1_000
MAX_LEARNER_NAME_CHARS: Final = 200
"""Maximum length of a display name and of an e-mail address, in characters."""
MAX_ROSTER_BYTES: Final = 1024 * 1024
MAX_LEARNER_EMULATORS: Final = 64
"""Maximum number of emulators of one learner.

Above this number, the workshop deletes the emulator with the earliest start.
"""
MAX_LEARNER_RUNNING: Final = 8
"""Maximum number of emulators of one learner that run at the same time.

Above this number, the workshop stops the emulator with the earliest start. The next request starts this emulator
again."""
LEARNER_IDLE_STOP_S: Final = 240.0
"""Time without requests after which a learner's emulator stops, in seconds. The next request restores its state."""
MAX_LEARNER_REQUESTS: Final = 8
"""Maximum number of unfinished requests of one learner. The server processes a learner's requests one at a time."""
MAX_WORKSHOP_CONNECTIONS: Final = 500
MAX_WORKSHOP_HEAD_BYTES: Final = 64 * 1024
MAX_WORKSHOP_BODY_BYTES: Final = 64 * 1024
WORKSHOP_REQUEST_TIMEOUT_S: Final = 30.0
"""Maximum time to receive a complete request, in seconds.

For the first request on a connection, this time starts when the connection opens. For each later request, it starts
with the request's first byte.
"""


class ActionLimits(NamedTuple):
    """Limits of one execution of an action.

    Attributes:
        timeout_ms: Maximum duration of a run in milliseconds of wall-clock time, including waiting time.
        memory_limit_mb: Maximum heap size in MiB.
        max_code_length: Maximum size of the source in bytes.
        max_response_length: Maximum size of the response as text, in bytes.
        max_console_log_length: Maximum number of bytes of console output.
        max_fetch_count: Maximum number of outbound requests.
        max_get_keys_count: Maximum number of key operations, all four key functions together.
        max_retries: Maximum number of attempts to reach the runtime.
        client_timeout_ms_buffer: Time that a client waits in addition to ``timeout_ms``, in milliseconds.
        max_fetch_bytes: Maximum size of the body of one response to an outbound request, in bytes.
        fetch_timeout_ms: Maximum duration of an outbound request in milliseconds.

    Source: docs/service/limits.md#limits-of-a-run.
    """

    timeout_ms: int = 900_000
    memory_limit_mb: int = 128
    max_code_length: int = MAX_BODY_BYTES
    max_response_length: int = 1_048_576
    max_console_log_length: int = 102_400
    max_fetch_count: int = 50
    max_get_keys_count: int = 10
    max_retries: int = 3
    client_timeout_ms_buffer: int = 5_000
    max_fetch_bytes: int = 50 * 1024 * 1024
    fetch_timeout_ms: int = 60_000


def is_triggers_token(text: str) -> bool:
    """Returns whether a string can be a bearer token of the triggers service.

    Args:
        text: The token without its scheme: 20 to 1,024 printable ASCII characters without spaces.
    """
    return (
        MIN_TRIGGERS_TOKEN <= len(text) <= MAX_TRIGGERS_TOKEN
        and text.isascii()
        and text.isprintable()
        and " " not in text
    )
