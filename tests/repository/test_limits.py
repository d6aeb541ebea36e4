"""The tables and sentences of the documentation state the limits of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svcnb.emulator.settings import Settings
from svcnb.protocol import limits
from svcnb.protocol.limits import ActionLimits

DOCS = Path(__file__).resolve().parents[2] / "docs"
RUN = ActionLimits()
SETTINGS = Settings.load({})


def size(number: int) -> str:
    """Returns a number of bytes as the pages write it."""
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if number % factor == 0:
            return f"{number // factor:,} {unit}"
    return f"{number:,} bytes"


SERVICE = {
    "payment": f"{limits.MIN_PAYMENT_CENTS} to {limits.MAX_PAYMENT_CENTS:,} cents",
    "price of a management call": f"{limits.MANAGEMENT_COST_CENTS} cent, only after success",
    "price of a run": f"{limits.EXECUTION_COST_CENTS_PER_SECOND} cent per second",
    "body of a request": size(limits.MAX_BODY_BYTES),
    "`typed_data`": f"{limits.MAX_TYPED_DATA_BYTES:,} bytes",
    "`signature`": f"{limits.MAX_SIGNATURE_BYTES:,} bytes",
    "`issuedAt`": f"at most {limits.ISSUED_AT_WINDOW_S} seconds before or after the time of the service",
    "ids in each list of groups of a usage key": f"{limits.MAX_KEY_GROUPS}",
    "entries in each list of `add_group` or `update_group`": f"{limits.MAX_GROUP_ENTRIES}",
    "chunk of a source in the [calculation of its CID](keys.md#content-identifiers)": (
        f"{limits.CID_CHUNK_BYTES:,} bytes"
    ),
    "interval between the scheduled times of a trigger": f"at least {limits.SCHEDULE_SCAN_S} seconds",
    "`topic_filters` of a trigger": f"{limits.MAX_TOPIC_FILTERS} entries",
    "retries of a trigger run": f"{limits.RUN_RETRIES}",
    "`limit` in a list of trigger runs": f"{limits.RUNS_PAGE_MAX} runs",
    "body of a webhook request to a trigger": f"{limits.MAX_WEBHOOK_BYTES:,} bytes",
    "time, including waiting time": f"{RUN.timeout_ms // 60_000} minutes",
    "memory": f"{RUN.memory_limit_mb} MiB",
    "source": size(RUN.max_code_length),
    "parameters": (
        f"no limit except the size of the body. The client of svcnb warns above {size(limits.JS_PARAMS_ADVICE_BYTES)}"
    ),
    "response": f"{size(RUN.max_response_length)} ({RUN.max_response_length:,} bytes of text)",
    "logs": f"{RUN.max_console_log_length:,} bytes",
    "outbound requests": f"{RUN.max_fetch_count}. The service does not count redirects",
    "one outbound request": (
        f"response body of {size(RUN.max_fetch_bytes)}, and {RUN.fetch_timeout_ms // 1000} seconds until the whole "
        "response has arrived"
    ),
    "[key operations](runtime.md#functions)": f"{RUN.max_get_keys_count} in total",
}

EMULATOR = {
    "Connections": (
        f"`--max-connections` ({limits.MAX_CONNECTIONS:,}), or fewer if the operating system permits fewer open files"
    ),
    "Time to receive the request line and headers": f"{limits.HEAD_TIMEOUT_S:.0f} seconds",
    "Size of the request line and headers": size(limits.MAX_HEAD_BYTES),
    "URL of a request": "less than 64 KiB",  # the limit of httptools
    "Number of headers": f"{limits.MAX_HEADERS}",
    "Time to receive the body of a request": f"{limits.BODY_TIMEOUT_S:.0f} seconds",
    "Size of the body of a request": f"`--max-body-bytes` ({size(limits.MAX_BODY_BYTES)})",
    "JSON in the body of a request": f"{limits.MAX_JSON_VALUES:,} values, {limits.MAX_JSON_DEPTH} levels of nesting",
    "Bodies of all requests in progress": (
        f"{size(limits.MAX_BODIES_BYTES_PER_CALLER)} per key or token, {size(limits.MAX_BODIES_BYTES)} in total"
    ),
    "Time for a client to read its response": f"{limits.WRITE_TIMEOUT_S:.0f} seconds",
    "Parameters of a query string": f"{limits.MAX_QUERY_PARAMETERS}",
    "Signed transaction": f"{size(limits.MAX_TRANSACTION_BYTES)}, as in Geth",
    "One batch of `/rpc`": f"{limits.MAX_RPC_BATCH} requests",
    "Nesting of JSON-RPC parameters": f"{limits.MAX_RPC_DEPTH} levels",
    "`eth_feeHistory`": (f"{limits.MAX_FEE_HISTORY_BLOCKS:,} blocks, {limits.MAX_FEE_HISTORY_PERCENTILES} percentiles"),
    "Gas of `eth_call` and `eth_estimateGas`": f"{limits.MAX_CALL_GAS:,}, as in Geth",
    "Result of one `eth_getLogs` call": (
        f"{limits.MAX_RPC_LOGS:,} logs from several blocks, as with hosted Geth nodes"
    ),
    "One response of `/rpc`, or all responses to one batch": (
        f"{limits.MAX_RPC_RESPONSE_BYTES:,} bytes, as for a batch in Geth"
    ),
    "CID in a [management call](service/index.md#what-the-service-does)": f"{limits.MAX_CID_CHARS:,} characters",
    "Pipelined requests on one connection that wait for a response": f"{limits.MAX_PIPELINED_REQUESTS}",
    "Concurrent runs": (
        f"`--action-concurrency` ({SETTINGS.action_concurrency}) for each [JavaScript "
        "engine](engine.md#concurrent-runs). One account can use at most three quarters of these runs"
    ),
    "Concurrent outbound requests": (
        f"{limits.MAX_OUTBOUND_PER_RUN} per run, {limits.MAX_OUTBOUND_PER_ACCOUNT} per account, "
        f"{limits.MAX_OUTBOUND} in total"
    ),
    "Large responses to outbound requests, in memory": (
        f"{size(limits.MAX_HELD_BYTES_PER_ACCOUNT)} per account, {size(limits.MAX_HELD_BYTES)} in total. "
        f"Responses of up to {size(limits.SMALL_ANSWER_BYTES)} do not count"
    ),
    "Outbound request": (
        f"{size(limits.MAX_FETCH_URL_CHARS)} for the URL, {size(limits.MAX_FETCH_HEADER_CHARS)} for the headers, "
        f"{size(limits.MAX_FETCH_REQUEST_BYTES)} for the body, {limits.OUTBOUND_CONNECT_S:.0f} seconds to connect, "
        f"{limits.MAX_REDIRECTS} redirects"
    ),
    "Source of an action": f"`--action-max-code-length` ({size(RUN.max_code_length)})",
    "Duration of a run": f"`--action-timeout-ms` ({RUN.timeout_ms // 60_000} minutes)",
    "Memory of a run": f"`--action-memory-limit-mb` ({RUN.memory_limit_mb} MiB)",
    "Outbound requests of a run": f"`--action-max-fetch-count` ({RUN.max_fetch_count})",
    "Duration of an outbound request": f"`--action-fetch-timeout-ms` ({RUN.fetch_timeout_ms // 1000} seconds)",
    "Imported module": size(limits.MAX_MODULE_BYTES),
    "Pending operations of a run": (
        f"{limits.MAX_PENDING_OPERATIONS}, and {size(limits.MAX_PENDING_OPERATION_BYTES)} of arguments"
    ),
    "Key operations of a run": f"`--action-max-get-keys-count` ({RUN.max_get_keys_count})",
    "Message of [`Encrypt`](service/runtime.md#functions)": size(limits.MAX_MESSAGE_BYTES),
    "Response to one outbound request": (
        f"`--action-max-fetch-bytes` ({size(RUN.max_fetch_bytes)}), after decompression of gzip or deflate. The "
        "content coding `br` (Brotli) is not supported"
    ),
    "[Recording](#recorded-responses) of outbound requests": f"{size(limits.MAX_RECORDING_BYTES)} of bodies",
    "Triggers of one owner": (
        f"{size(limits.MAX_TRIGGERS_BYTES)} in total. The size of a trigger is that of its name, code, parameters, "
        f"settings, key and address, and {limits.TRIGGER_BYTES:,} additional bytes"
    ),
    "Console output of a run": f"`--action-max-console-log-length` ({size(RUN.max_console_log_length)})",
    "Response of a run": f"`--action-max-response-length` ({size(RUN.max_response_length)})",
    "Response to a trigger run from the service at `--trigger-execution-url`": size(limits.MAX_RUN_ANSWER_BYTES),
    "Inputs of unfinished trigger runs": f"{size(limits.MAX_OPEN_INPUT_BYTES)} per owner",
    "Inputs and responses of finished trigger runs": f"{size(limits.KEPT_TRIGGER_INPUT_BYTES)} per owner",
    "Events in the [trace](engine.md#trace-of-a-run) of a run": f"{limits.MAX_TRACE_EVENTS:,}",
    "Strings in the trace of a run": (
        f"{limits.MAX_TRACE_METHOD_CHARS} characters for a method, {limits.MAX_TRACE_HOST_CHARS} for a host, "
        f"{limits.MAX_TRACE_TEXT_CHARS:,} for other strings"
    ),
    "Stored runs": (
        f"{limits.KEPT_EXECUTIONS:,} runs, and {size(limits.KEPT_EXECUTION_BYTES)} of logs, errors and traces"
    ),
    "One response of `GET /_emulator/runs`": (
        f"{limits.MAX_EXECUTIONS_PAGE:,} runs and {size(limits.MAX_EXECUTIONS_PAGE_BYTES)}"
    ),
    "Injected faults that have not occurred yet": f"{limits.MAX_PENDING_FAULTS:,}",
    "Name of a snapshot": f"{limits.MAX_SNAPSHOT_NAME_CHARS} characters",
    "Stored sources of actions, for later requests that contain only the CID": size(limits.KEPT_SOURCE_BYTES),
    "Operations that the engine [`auto`](engine.md) stores to repeat a run on `v8`": size(limits.MAX_REPEATABLE_BYTES),
}

TRIGGERS = {
    "body of a webhook": f"{limits.MAX_WEBHOOK_BYTES:,} bytes",
    f"webhook requests from one IP address in {limits.RATE_WINDOW_S} seconds": f"{limits.WEBHOOK_POSTS_PER_ADDRESS}",
    f"webhook requests to one owner's triggers in {limits.RATE_WINDOW_S} seconds": f"{limits.WEBHOOK_POSTS_PER_USER}",
    "`max_runs_per_minute` of a trigger (limits only the runs of a webhook)": f"{limits.DEFAULT_RUNS_PER_MINUTE}",
    "`max_queued_runs` of a trigger": f"{limits.DEFAULT_QUEUED_RUNS}",
    "stored finished runs per trigger": f"{limits.KEPT_TRIGGER_RUNS:,} (`--kept-trigger-runs`)",
}


@pytest.mark.parametrize(
    ("page", "heading", "table"),
    [
        ("service/limits.md", "# Limits of the service", SERVICE),
        ("emulator.md", "## Limits", EMULATOR),
        ("triggers.md", "## Limits", TRIGGERS),
    ],
)
def test_a_table_of_limits_states_the_values_of_the_code(page: str, heading: str, table: dict[str, str]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"{heading}\n")[2]
    if heading.startswith("## "):
        text = text.partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line]
    found = {row[0]: row[1] for row in rows if row[1] not in {"limit", "value", "default"} and "---" not in row[0]}
    assert found == table


@pytest.mark.parametrize(
    ("page", "statement"),
    [
        ("workshop.md", f"at most {limits.MAX_LEARNER_EMULATORS} emulators, of which at most "),
        ("workshop.md", f"at most {limits.MAX_LEARNER_RUNNING} run at the same time"),
        ("workshop.md", f"If {limits.MAX_LEARNER_REQUESTS} requests of a learner are unfinished"),
        ("workshop.md", f"at most {limits.MAX_WORKSHOP_CONNECTIONS} connections"),
        ("workshop.md", f"within {limits.WORKSHOP_REQUEST_TIMEOUT_S:.0f} seconds. For the first"),
        ("workshop.md", f"at most {limits.MAX_LEARNERS:,} learners and {size(limits.MAX_ROSTER_BYTES)} of data"),
        ("workshop.md", f"at most {limits.MAX_LEARNER_NAME_CHARS} characters"),
        ("service/keys.md", f"at most {limits.CID_MAX_LINKS} links for each"),
        ("history.md", f"newest {limits.KEPT_RECORDED_RUNS:,} runs"),
        ("history.md", f"newest {limits.KEPT_RECORDED_DETAILS:,} runs"),
        ("history.md", f"up to {limits.MAX_RECORDED_CHARS:,} characters"),
        ("triggers.md", f"up to {limits.CHAIN_EVENT_SCAN_BLOCKS} blocks at a time"),
        ("triggers.md", f"it begins {limits.CHAIN_EVENT_LOOK_BACK_BLOCKS} blocks before the newest block"),
        ("triggers.md", f"after {limits.CHAIN_CONFIRMATIONS} confirmations"),
        ("service/triggers.md", f"every {limits.CHAIN_EVENT_SCAN_S} seconds, {limits.CHAIN_EVENT_SCAN_BLOCKS} blocks"),
    ],
)
def test_a_sentence_about_a_limit_states_the_value_of_the_code(page: str, statement: str) -> None:
    text = re.sub(r"\s+", " ", (DOCS / page).read_text(encoding="utf-8"))
    assert statement in text
