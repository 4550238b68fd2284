"""Compute what is missing, on two processes, and write docs/calibration.md.

python -m calibration
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from threadpoolctl import threadpool_limits

from calibration.blocks import Block, append_stored, list_blocks, read_stored
from calibration.cells import Cell
from calibration.page import render

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"


def _compute(block: Block) -> tuple[list[Cell], float]:
    """Cells of a block, and the seconds that the processor was busy with it."""
    start = time.process_time()
    with threadpool_limits(1):
        return block.measure(), time.process_time() - start


def compute_missing(blocks: list[Block], n_processes: int) -> dict[str, list[Cell]]:
    """Cells of all blocks, from the store where it has them, by their keys."""
    cells = read_stored()
    missing = [block for block in blocks if block.key not in cells]
    # Many runs take longest, so they are begun with: no process is left alone at the end.
    missing.sort(key=lambda block: -dict(block.parameters).get("n", 0))
    print(f"{len(blocks) - len(missing)} of {len(blocks)} blocks are there already", flush=True)
    with ProcessPoolExecutor(n_processes) as pool:
        futures = {pool.submit(_compute, block): block for block in missing}
        for done, future in enumerate(as_completed(futures), start=1):
            block, (result, seconds) = futures[future], future.result()
            append_stored(block.key, result)
            cells[block.key] = result
            print(f"[{done}/{len(missing)}] {block.name} ({seconds:.1f} s)", flush=True)
    return cells


def main() -> None:
    """Compute and write."""
    parser = argparse.ArgumentParser(description="Write docs/calibration.md.")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    start, blocks = time.perf_counter(), list_blocks()
    cells = compute_missing(blocks, arguments.processes)
    PAGE.write_text(render([cell for block in blocks for cell in cells[block.key]]))
    print(f"{PAGE.name} is written, after {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
