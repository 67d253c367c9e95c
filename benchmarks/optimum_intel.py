"""moir beside optimum-intel on folders of language models: conversion, executed operations, latency.

    python benchmarks/optimum_intel.py --optimum ENVIRONMENT/bin/optimum-cli FOLDER … [--task TASK] [--threads 1]

optimum-intel and its torch and transformers are in an environment of their own. Both converters keep 16 bits. The latency is the least CPU
time of the process, with one thread by default, so that other programs count little; both models run in turn. FOLDER needs a tokenizer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import openvino
from processes import ConverterFailed, Usage, executable, print_table, run

PROMPT, TOKENS, LOW, COUNT = 64, 4, 3, 60
"""Tokens of a prompt, single tokens after it, and the range of their ids."""

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}


class Runner:
    """A compiled model with its states.

    Args:
        folder: the folder with the model.
        threads: how many threads run it.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        options = {**EXACT, "INFERENCE_NUM_THREADS": threads, "PERF_COUNT": True}
        self.compiled = openvino.Core().compile_model(str(folder / "openvino_model.xml"), "CPU", options)
        self.request = self.compiled.create_infer_request()
        self.names = {each.any_name for each in self.compiled.inputs}

    def seconds(self, count: int, past: int) -> float:
        """The CPU seconds of `count` tokens after `past` others."""
        values = {
            "input_ids": np.arange(count, dtype=np.int64)[None] % COUNT + LOW,
            "attention_mask": np.ones((1, past + count), np.int64),
            "position_ids": np.arange(past, past + count, dtype=np.int64)[None],
            "beam_idx": np.zeros(1, np.int32),
            "token_type_ids": np.zeros((1, count), np.int64),
        }
        start = time.process_time()
        self.request.infer({name: value for name, value in values.items() if name in self.names})
        return time.process_time() - start

    def executed(self) -> int:
        """The number of operations that the last inference executed."""
        return sum("EXECUTED" in str(each.status) for each in self.request.get_profiling_info())


def latencies(runners: Mapping[str, Runner], rounds: int) -> tuple[dict[str, float], dict[str, float], dict[str, int]]:
    """The least milliseconds of a prompt and of a token of each model, and the operations that a prompt executes."""
    prompts, tokens = ({name: float("inf") for name in runners} for _ in range(2))
    counts: dict[str, int] = {}
    for _ in range(rounds):
        for name, runner in runners.items():
            generates = "beam_idx" in runner.names
            if generates:
                runner.request.reset_state()
            prompts[name] = min(prompts[name], 1e3 * runner.seconds(PROMPT, 0))
            counts[name] = runner.executed()
            for past in range(PROMPT, PROMPT + TOKENS if generates else PROMPT):
                tokens[name] = min(tokens[name], 1e3 * runner.seconds(1, past))
    return prompts, tokens, counts


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare conversions of language models with optimum-intel's.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--optimum", required=True, help="the command optimum-cli")
    parser.add_argument("--task", default="text-generation-with-past", help="optimum-intel's task (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of the latency (default: 1)")
    parser.add_argument("--rounds", type=int, default=50, help="inferences of which the fastest counts (default: 50)")
    options = parser.parse_args(arguments)
    moir = executable("moir")
    if moir is None:
        raise SystemExit("moir is not installed in this environment: run pip install -e .")
    rows = [["model", "converter", "wall s", "peak MB", "executed", f"{PROMPT} tokens ms", "a token ms"]]
    status = 0
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as temporary:
            outs = {name: Path(temporary) / name for name in ("optimum", "moir")}
            exported = ["export", "openvino", "-m", str(folder), "--task", options.task, "--weight-format", "fp16"]
            commands = {
                "optimum": [options.optimum, *exported, str(outs["optimum"])],
                "moir": [moir, str(folder), "-o", str(outs["moir"]), "--silent"],
            }
            usages: dict[str, Usage] = {}
            for name, command in commands.items():
                try:
                    usages[name] = run(command)
                except ConverterFailed as error:
                    print(f"{name} failed for {folder}: {error}")
                    status = 1
            prompts, tokens, counts = latencies({name: Runner(outs[name], options.threads) for name in usages}, options.rounds)
            for name, usage in usages.items():
                figures = [f"{usage.wall:.1f}", f"{usage.memory:.0f}", str(counts[name]), f"{prompts[name]:.2f}", f"{tokens[name]:.2f}"]
                rows.append([folder.name, name, *figures])
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
