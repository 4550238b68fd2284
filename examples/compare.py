"""Compare two algorithms from Python, with the runs that `digits.py` wrote.

python examples/compare.py
"""

from pathlib import Path

from outperform import compare_runs, read_runs, save_figure

HERE = Path(__file__).parent


def main() -> None:
    """Print the verdict with every doubt about it, and save a figure."""
    runs = read_runs(HERE / "digits.csv")
    comparison = compare_runs(runs, "svm", "knn", train_size=1136, test_size=661)
    print(comparison)
    for caveat in comparison.caveats:
        print(f"- {caveat}")
    save_figure(comparison, "digits.svg")
    print("Figure written to digits.svg")


if __name__ == "__main__":
    main()
