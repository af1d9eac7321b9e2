#!/usr/bin/env python3
"""Pictures and tables from bench/accuracy.sh's CSV (needs python3-matplotlib).

    bench/plots/accuracy.py FILE.csv [-o PICTURES]
"""
import argparse
import csv
import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "motes"
from matplotlib import pyplot as plt  # noqa: E402


def number(row, name):
    return float(row[name]) if row.get(name) else None


def curve(axes, rows, x, y, label):
    rows = sorted(rows, key=lambda row: number(row, x))
    axes.errorbar([number(r, x) for r in rows], [number(r, y) for r in rows],
                  yerr=[number(r, y + "_sd") or 0 for r in rows], marker="o", markersize=3, capsize=2, label=label)


def finish(figure, axes, path, **labels):
    axes.set(**labels)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with open(arguments.file, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    links = [r for r in rows if r["part"] == "links"]
    clean = [r for r in links if all(number(r, k) == 0 for k in ("noise", "miss", "false"))]

    print("| N | persistence | " + " | ".join(f"ratio {x}" for x in ("0.1", "0.3", "0.6", "1")) + " |")
    print("|---|---|---|---|---|---|")
    for n in ("500", "5000", "50000"):
        for p in ("0.5", "0.9"):
            cells = []
            for x in ("0.1", "0.3", "0.6", "1"):
                found = [r for r in clean if (r["n"], r["persistence"], r["ratio"], r["gate_rule"]) == (n, p, x, "known")]
                cells.append(f"{float(found[0]['correct_links']):.4f}" if found else "")
            print(f"| {n} | {p} | " + " | ".join(cells) + " |")

    figure, axes = plt.subplots(figsize=(6.4, 4.2))
    for n in ("500", "5000", "50000"):
        curve(axes, [r for r in clean if r["n"] == n and r["gate_rule"] == "known" and r["persistence"] == "0.5"], "ratio",
              "correct_links", f"N = {n}")
    curve(axes, [r for r in clean if r["gate_rule"] == "auto"], "ratio", "correct_links", "N = 5000, gate estimated")
    finish(figure, axes, arguments.output / "accuracy_ratio.svg", xlabel="displacement / spacing",
           ylabel="fraction of correct links")

    figure, axes = plt.subplots(figsize=(6.4, 4.2))
    faulty = [r for r in links if r["n"] == "2000"]
    for fault, label in (("noise", "localisation noise (spacings)"), ("miss", "missed (share)"), ("false", "false (share)")):
        others = [k for k in ("noise", "miss", "false") if k != fault]
        curve(axes, [r for r in faulty if all(number(r, k) == 0 for k in others)], fault, "f1", label)
    finish(figure, axes, arguments.output / "accuracy_faults.svg", xlabel="size of the fault", ylabel="link F1")

    images = [r for r in rows if r["part"] == "images"]
    if images:
        print("\n| particles | SNR | JSC | RMSE | alpha | beta | link F1 |\n|---|---|---|---|---|---|---|")
        for r in images:
            print("| " + " | ".join([r["n"], r["snr"]] + [f"{float(r[k]):.3f} ± {float(r[k + '_sd']):.3f}" for k in
                                                         ("jsc", "rmse", "alpha", "beta", "f1")]) + " |")


if __name__ == "__main__":
    main()
