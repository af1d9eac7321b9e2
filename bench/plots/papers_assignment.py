#!/usr/bin/env python3
"""Tables and pictures from the CSV files of bench/papers_assignment.sh and papers_ranks.sh (needs python3-matplotlib).

    bench/plots/papers_assignment.py FOLDER [-o PICTURES]

Prints Markdown tables; writes, for the files that exist, fig6.svg (Vasconcelos & Rosenhahn 2009, Fig. 6), table1.svg
(Date & Nagi 2016, Fig. 2), fig3.svg (Date & Nagi 2016, Fig. 3), and from ranks.csv scaling.svg (their Figs 4 and 5).
"""
import argparse
import pathlib

from results import rows_of
from matplotlib import pyplot as plt  # after results, which chooses the drawing back end


def label(row):
    threads = "" if row["backend"] == "cuda" else f", {row['threads']} thread" + ("s" if row["threads"] != "1" else "")
    return f"{row['solver']} ({row['backend'].upper()}{threads})"


def stages(row):
    pairs = (item.split("=") for item in row["stages"].split())
    return {name: float(value) for name, value in pairs if name not in ("phases", "rounds", "augmentations")}


def table(header, lines):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def curves(rows, column, scale, title, unit, path):
    figure, axes = plt.subplots(figsize=(6.4, 4.2))
    labels = list(dict.fromkeys(label(row) for row in rows))
    sizes = list(dict.fromkeys(int(row["rows"]) for row in rows))
    value = {(label(row), int(row["rows"])): float(row[column]) * scale for row in rows}
    for name in labels:
        points = [(n, value[name, n]) for n in sizes if (name, n) in value]
        axes.plot(*zip(*points), marker="o", markersize=3, label=name)
    axes.set(xlabel="n", ylabel=unit, yscale="log", title=title)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    table(["n"] + labels,
          [[str(n)] + [f"{value[name, n]:.4g}" if (name, n) in value else "" for name in labels] for n in sizes])


def gains(rows):
    """Date & Nagi's Table 2: pairs matched initially and in every five iterations."""
    lines = []
    for row in rows:
        if row["solver"] != "hungarian-tree" or row["backend"] != "cuda" or int(row["rows"]) % 1000 or not row["assignments"]:
            continue
        numbers = [int(word) for word in row["assignments"].split()]
        groups = [sum(numbers[k:k + 5]) for k in range(1, len(numbers), 5)]
        lines.append([row["rows"], str(numbers[0])] + [str(g) for g in groups[:7]] + [""] * (7 - len(groups[:7])))
    if lines:
        table(["n", "initial"] + [f"[{5 * k + 1}-{5 * k + 5}]" for k in range(7)], lines)


def contributions(rows, path):
    rows = [row for row in rows if row["rows"] == "20000" and row["backend"] == "cuda"]
    if not rows:
        return
    names = list(dict.fromkeys(name for row in rows for name in stages(row) if name != "transfer"))
    figure, axes = plt.subplots(figsize=(7.5, 4.2))
    places = range(len(rows))
    bottom = [0.0] * len(rows)
    for name in names:
        heights = [stages(row).get(name, 0) for row in rows]
        axes.bar(places, heights, bottom=bottom, label=name.replace("_", " "))
        bottom = [b + h for b, h in zip(bottom, heights)]
    highs = [row["instance"].split("high=")[1].split("&")[0] for row in rows]
    axes.set_xticks(list(places), [f"{row['solver']}\n0..{high}" for row, high in zip(rows, highs)], fontsize=6)
    axes.set(ylabel="s", title="Where the time goes, n = 20000")
    axes.legend(frameon=False, fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def scaling(rows, path):
    """Date & Nagi's Tables 4 and 5: t_1 / t_p if the elements grow with the ranks (weak scaling), else t_1 / (p t_p)."""
    time = {(row["solver"], int(row["rows"]), int(row["ranks"])): float(row["seconds_median"]) for row in rows}
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    lines = []
    for solver in dict.fromkeys(row["solver"] for row in rows):
        sizes = sorted({n for name, n, _ in time if name == solver})
        for base in (n for n in sizes if (solver, n, 1) in time):
            alone = time[solver, base, 1]
            strong = {p: alone / (p * t) for (name, n, p), t in time.items() if name == solver and n == base}
            weak = {p: alone / t for (name, n, p), t in time.items() if name == solver and abs(n * n - p * base * base) < n}
            for panel, values in zip(panels, (weak, strong)):
                if len(values) > 1:
                    panel.plot(*zip(*sorted(values.items())), marker="o", markersize=3, label=f"{solver}, n = {base}")
            lines += [[solver, str(base), str(p), f"{time[solver, base, p]:.4f}", f"{value:.2f}"] for p, value in sorted(strong.items())]
            lines += [[solver, f"{base} x sqrt({p})", str(p), f"{alone / value:.4f}", f"{value:.2f}"] for p, value in sorted(weak.items()) if p > 1]
    for panel, name in zip(panels, ("weak scaling, n = first n x sqrt(GPUs)", "strong scaling")):
        panel.set(xlabel="GPUs", title=name, xscale="log", ylim=(0, None))
        panel.set_xticks(ranks := sorted({p for *_, p in time}), [str(p) for p in ranks])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=6)
    panels[0].set_ylabel("efficiency")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    table(["solver", "n", "GPUs", "median s", "efficiency"], lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    source = {name: arguments.folder / f"{name}.csv" for name in ("fig6", "table1", "table3", "large", "ranks")}
    if source["fig6"].exists():
        curves(rows_of(source["fig6"]), "seconds_mean", 1000, "Mean over random sets of n points", "ms",
               arguments.output / "fig6.svg")
    if source["table1"].exists():
        rows = rows_of(source["table1"])
        curves(rows, "seconds_mean", 1, "Costs 0..n", "s", arguments.output / "table1.svg")
        gains(rows)
    if source["ranks"].exists():
        scaling(rows_of(source["ranks"]), arguments.output / "scaling.svg")
    for name in ("table3", "large"):
        if not source[name].exists():
            continue
        rows = rows_of(source[name])
        table(["instance", "solver", "median s", "min", "max", "objective", "certified", "initial", "stages"],
              [[row["instance"], label(row), row["seconds_median"], row["seconds_min"], row["seconds_max"],
                row["objective"], row["certified"], row["assignments"].split()[0],
                " ".join(f"{k}={v:.4g}" for k, v in stages(row).items())] for row in rows])
        if name == "table3":
            contributions(rows, arguments.output / "fig3.svg")


if __name__ == "__main__":
    main()
