"""Measure Nearside and llama.cpp side by side on the weights of one model.

Each measurement is a process of its own, so that memory is told apart; the two engines take turns,
and a figure is the median of the rounds. ``cargo xtask bench llm`` sets up what this needs and runs
it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHORT, LONG = 100, 2000
PREFILL = 512
DECODED = 48


@dataclass(frozen=True)
class Pair:
    """A package of ours, and the file of llama.cpp that it is measured against.

    ``decode`` and ``prefill`` are the least ratios that are asked for, if one is.
    """

    name: str
    package: Path
    peer: str
    gguf: Path
    decode: float
    prefill: float | None = None


@dataclass(frozen=True)
class Row:
    """A figure of both engines. ``needed`` is the least ratio that is asked for, if one is."""

    what: str
    unit: str
    ours: float
    peer: float | None
    peer_name: str
    ratio: float | None
    needed: float | None

    @property
    def verdict(self) -> str:
        """Whether the ratio is reached."""
        if self.needed is None or self.ratio is None:
            return ""
        return "yes" if self.ratio >= self.needed else "NO"


def measure(command: list[str]) -> dict[str, Any]:
    """Run ``command`` and read the JSON that it prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def commands(pair: Pair, nearside: Path, threads: int, context: int) -> dict[str, list[str]]:
    """Give the command of each engine for the same work."""
    work = ["--threads", str(threads), "--prefill", str(PREFILL), "--decode", str(DECODED)]
    work += ["--at", f"{SHORT},{LONG}"]
    return {
        "ours": [str(nearside), "bench", str(pair.package), "--json", *work],
        "peer": [
            *(sys.executable, str(HERE / "llama_peer.py"), str(pair.gguf)),
            *("--context", str(context), *work),
        ],
    }


def figures(run: dict[str, Any]) -> dict[str, float]:
    """Boil a run down to what the rows compare."""
    found = {
        "prefill": run["prefill"]["tokens"] / run["prefill"]["s"],
        "peak": run["peak_bytes"] / 1e6,
        "load": run["load_s"] * 1e3,
    }
    for part in run["decode"]:
        found[f"decode {part['context']}"] = part["tokens"] / part["s"]
    for extra in ("own_share", "bytes_per_token", "read_bytes_per_s"):
        if extra in run:
            found[extra] = run[extra]
    return found


def rows(pair: Pair, threads: int, runs: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """Compare the medians of both engines' runs."""
    boiled = {who: [figures(run) for run in found] for who, found in runs.items()}

    def median(who: str, what: str) -> float:
        return statistics.median(found[what] for found in boiled[who])

    def faster(what: str, key: str, needed: float | None) -> Row:
        ours, peer = median("ours", key), median("peer", key)
        return Row(label(what), "tok/s", ours, peer, pair.peer, ours / peer, needed)

    def label(what: str) -> str:
        return f"{pair.name}, {what}, {threads} thread" + ("s" if threads > 1 else "")

    short, long = f"decode {SHORT}", f"decode {LONG}"
    kept = median("ours", long) / median("ours", short)
    peer_kept = median("peer", long) / median("peer", short)
    peak, peer_peak = median("ours", "peak"), median("peer", "peak")
    table = [
        faster(f"prefill {PREFILL}", "prefill", pair.prefill),
        faster("decode", short, pair.decode),
        faster(f"decode at {LONG}", long, None),
        Row(label(f"speed kept at {LONG}"), "%", kept * 100, peer_kept * 100, pair.peer, kept, 0.7),
        Row(label("peak RSS"), "MB", peak, peer_peak, pair.peer, peer_peak / peak, 1.0),
        Row(
            label("load"),
            "ms",
            median("ours", "load"),
            median("peer", "load"),
            pair.peer,
            None,
            None,
        ),
    ]
    extras = {
        "own_share": ("our loop's share of a token", "%", 100.0),
        "bytes_per_token": ("bytes read a token", "MB", 1e-6),
        "read_bytes_per_s": ("read bandwidth of the machine", "GB/s", 1e-9),
    }
    for key, (what, unit, scale) in extras.items():
        if key in boiled["ours"][0]:
            table.append(Row(label(what), unit, median("ours", key) * scale, None, "", None, None))
    if {"bytes_per_token", "read_bytes_per_s"} <= boiled["ours"][0].keys():
        limit = median("ours", "read_bytes_per_s") / median("ours", "bytes_per_token")
        share = median("ours", short) / limit * 100
        table.append(Row(label("decode, of what memory allows"), "%", share, None, "", None, None))
    return table


def text(table: list[Row]) -> str:
    """Make a Markdown table of the rows."""
    lines = ["| | Nearside | llama.cpp | ratio | asked | reached |", "|---|---|---|---|---|---|"]
    for row in table:
        peer = "" if row.peer is None else f"{row.peer:.1f} {row.unit} ({row.peer_name})"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        needed = "" if row.needed is None else f"{row.needed:g}"
        lines.append(
            f"| {row.what} | {row.ours:.1f} {row.unit} | {peer} | {ratio} | {needed} "
            f"| {row.verdict} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nearside", type=Path, required=True, help="the command `nearside`")
    parser.add_argument("--four", type=Path, required=True, help="package with 4-bit weights")
    parser.add_argument("--eight", type=Path, required=True, help="package with 8-bit weights")
    parser.add_argument("--q4", type=Path, required=True, help="GGUF file, Q4_0")
    parser.add_argument("--q8", type=Path, required=True, help="GGUF file, Q8_0")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--context", type=int, default=2048, help="llama.cpp's")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of llm.json and llm.md")
    args = parser.parse_args()

    pairs = [
        Pair("4-bit", args.four, "Q4_0", args.q4, decode=1.1, prefill=1.5),
        Pair("int8", args.eight, "Q8_0", args.q8, decode=1.1),
    ]
    table, raw = [], []
    for pair in pairs:
        for threads in [int(part) for part in args.threads.split(",")]:
            todo = commands(pair, args.nearside, threads, args.context)
            runs: dict[str, list[dict[str, Any]]] = {"ours": [], "peer": []}
            for number in range(args.rounds):
                for who, command in todo.items():
                    runs[who].append(measure(command))
                print(f"{pair.name}, {threads} threads: round {number + 1}", file=sys.stderr)
            table += rows(pair, threads, runs)
            raw.append({"pair": pair.name, "threads": threads, "runs": runs})
    args.out.mkdir(parents=True, exist_ok=True)
    machine = {"processor": platform.machine(), "system": platform.system()}
    document = {"machine": machine, "rows": [asdict(row) for row in table], "runs": raw}
    (args.out / "llm.json").write_text(json.dumps(document, indent=1) + "\n")
    (args.out / "llm.md").write_text(text(table))
    print(text(table), end="")


if __name__ == "__main__":
    main()
