#!/usr/bin/env python3
"""Pictures from the CSV files of bench/papers_greedy.sh (needs python3-matplotlib).

    bench/plots/papers_greedy.py FOLDER [-o PICTURES]

Writes greedy_fig2.svg to greedy_fig5.svg after Fagginger Auer & Bisseling 2012, for the files that exist.
"""
import math
import re
import statistics

from results import folders, rows_of, save
from matplotlib import pyplot as plt  # after results, which chooses the drawing back end


def family(instance):
    return instance.removeprefix("gen:").partition("?")[0]


def unpermuted(instance):
    return re.sub(r"&permute=\d+", "", instance)


def distinct(values):
    return list(dict.fromkeys(values))


def fig2(folder, path):
    runs = {(r["instance"], r["solver"]): r for r in rows_of(folder / "fig2.csv")}
    rounds = rows_of(folder / "fig2_rounds.csv")
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), sharey=True)
    for axes, (solver, title) in zip(panels, [("greedy-proposal?select=random", "random"), ("greedy-proposal", "weighted")]):
        for instance in distinct(r["instance"] for r in rounds):
            run = runs[instance, solver]
            matched, curve = 0, [0.0]
            for r in rounds:
                if (r["instance"], r["solver"]) == (instance, solver):
                    matched += 2 * int(r["pairs"])
                    curve.append(matched / int(run["vertices"]))
            axes.plot(range(len(curve)), curve, marker=".", label=f"{family(instance)} ({int(run['entries']) // 2:,} edges)")
        axes.set_xlabel("rounds")
        axes.set_title(f"Algorithm 3, {title} matching", fontsize=10)
        axes.set_xlim(0, 25)
    panels[0].set_ylabel("matched vertices / vertices")
    panels[0].legend(fontsize=7)
    save(figure, path)


def eq2(p):
    return 2 * (1 - p) * (1 - math.exp(-p / (1 - p)))


def fig3(folder, path):
    runs, first = rows_of(folder / "fig3.csv"), {}
    for r in rows_of(folder / "fig3_rounds.csv"):
        if r["round"] == "0":
            first[r["solver"]] = int(r["pairs"])
    blue = lambda solver: float(solver.partition("blue=")[2])
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5))
    for select, style in [("random", "-"), ("weighted", "--")]:
        mine = sorted((r for r in runs if ("select=random" in r["solver"]) == (select == "random")), key=lambda r: blue(r["solver"]))
        x = [blue(r["solver"]) for r in mine]
        for column, name in [("pairs", "size"), ("weight", "weight"), ("match_median_s", "time")]:
            y = [float(r[column]) for r in mine]
            left.plot(x, [100 * v / max(y) for v in y], style, label=f"{name}, {select}")
        right.plot(x, [2 * first[r["solver"]] / int(r["vertices"]) for r in mine], marker=".", linestyle=style, label=f"observed, {select}")
    x = [k / 200 for k in range(2, 199)]
    right.plot(x, [eq2(p) for p in x], color="0.3", linewidth=1, label="eq. 2")
    for axes in (left, right):
        axes.axvline(0.53406, color="0.8", zorder=0)
        axes.set_xlabel("p")
        axes.legend(fontsize=7)
    left.set_ylabel("% of the greatest")
    right.set_ylabel("vertices matched in the first round")
    save(figure, path)


def fig4(folder, path):
    runs = rows_of(folder / "fig4.csv")
    solvers = distinct(r["solver"] for r in runs)
    figure, panels = plt.subplots(1, len(solvers), figsize=(5 * len(solvers), 4.5), sharey=True)
    for axes, solver in zip(panels, solvers):
        threads = []
        for instance in distinct(r["instance"] for r in runs):
            mine = [r for r in runs if (r["instance"], r["solver"]) == (instance, solver)]
            threads = [int(r["threads"]) for r in mine]
            one = float(mine[0]["match_median_s"])
            axes.plot(threads, [float(r["match_median_s"]) / one for r in mine], marker=".", label=family(instance))
        axes.plot(threads, [1 / t for t in threads], color="0.6", linewidth=1, label="ideal")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlabel("threads")
        axes.set_title(solver, fontsize=10)
    panels[0].set_ylabel("time / time of one thread")
    panels[0].legend(fontsize=7)
    save(figure, path)


def fig5(folder, path):
    runs = rows_of(folder / "fig5.csv")
    value = {(unpermuted(r["instance"]), r["instance"], r["solver"], r["backend"]): r for r in runs}
    graphs = distinct(unpermuted(r["instance"]) for r in runs)
    # Ratios of each new solver to each serial one, for each permutation.
    panels = [("greedy-proposal?select=random", "greedy-random?seed=0", "random, against Alg. 1", ("pairs", "time")),
              ("greedy-proposal", "greedy-weighted?seed=0", "weighted, against Alg. 1", ("pairs", "weight", "time")),
              ("greedy-proposal", "greedy-sorted", "weighted, against Alg. 2", ("pairs", "weight", "time")),
              ("greedy-suitor", "greedy-sorted", "suitor, against Alg. 2", ("pairs", "weight", "time"))]
    backends = distinct(r["backend"] for r in runs)
    figure, grid = plt.subplots(len(backends), len(panels), figsize=(4.2 * len(panels), 4 * len(backends)), squeeze=False)
    number = {"pairs": lambda r: float(r["pairs"]), "weight": lambda r: float(r["weight"]),
              "time": lambda r: float(r["device_median_s"]) or float(r["match_median_s"])}
    for row, backend in zip(grid, backends):
        for axes, (solver, against, title, columns) in zip(row, panels):
            for column in columns:
                middle, spread = [], []
                for graph in graphs:
                    permutations = distinct(r["instance"] for r in runs if unpermuted(r["instance"]) == graph)
                    ratios = [number[column](value[graph, i, solver, backend]) / number[column](value[graph, i, against, "cpu"])
                              for i in permutations if (graph, i, solver, backend) in value]
                    middle.append(statistics.fmean(ratios) if ratios else math.nan)
                    spread.append(statistics.pstdev(ratios) if ratios else 0)
                axes.errorbar(range(len(graphs)), middle, spread, fmt="o", markersize=3, capsize=2, label=column)
            axes.axhline(1, color="0.8", zorder=0)
            axes.set_yscale("log")
            axes.set_xticks(range(len(graphs)), [family(g) for g in graphs], rotation=40, ha="right", fontsize=7)
            axes.set_title(f"{backend}: {title}", fontsize=9)
            axes.legend(fontsize=7)
        row[0].set_ylabel("ratio, mean and standard deviation")
    save(figure, path)


def main():
    folder, pictures = folders(__doc__)
    for name, draw in [("fig2", fig2), ("fig3", fig3), ("fig4", fig4), ("fig5", fig5)]:
        if (folder / f"{name}.csv").exists():
            draw(folder, pictures / f"greedy_{name}.svg")


if __name__ == "__main__":
    main()
