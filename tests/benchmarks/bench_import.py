"""Start-up times: `import svcnb` at most 0.6 times `import httpx`, and `svcnb --help` at most 3 times Python."""

from __future__ import annotations

ROUNDS = 9


def test_import_and_help_are_fast(interpreter_times) -> None:
    times = interpreter_times(
        {
            "empty": "pass",
            "httpx": "import httpx",
            "svcnb": "import svcnb",
            "help": "from svcnb.cli import main; main(['--help'])",
        },
        ROUNDS,
    )
    empty = times["empty"]
    net = (times["svcnb"] - empty) / (times["httpx"] - empty)
    print("\n" + "  ".join(f"{name} {value:.1f} ms" for name, value in times.items()))
    print(f"net svcnb/httpx {net:.2f}, help/empty {times['help'] / empty:.2f}")
    assert net <= 0.6
    assert times["help"] <= 3 * empty
