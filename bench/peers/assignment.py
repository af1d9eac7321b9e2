#!/usr/bin/env python3
"""Times public dense assignment solvers on a matrix of bench_assignment --dump: SciPy's linear_sum_assignment,
and, if installed, lap (gatagat/lap, lapx) and lapjv (src-d). Prints the median seconds of each and the optimum.

    bench/peers/assignment.py MATRIX.f64 ROWS [REPEATS]
"""
import statistics
import sys
import time

import numpy
import scipy
from scipy.optimize import linear_sum_assignment


def solvers():
    yield f"scipy {scipy.__version__}", lambda c: c[linear_sum_assignment(c)].sum()
    try:
        import lap
        yield f"lap {lap.__version__}", lambda c: lap.lapjv(c)[0]
    except ImportError:
        pass
    try:
        import lapjv
        yield "lapjv (src-d)", lambda c: c[numpy.arange(len(c)), lapjv.lapjv(c)[0]].sum()
    except ImportError:
        pass


def main():
    matrix = numpy.fromfile(sys.argv[1]).reshape(int(sys.argv[2]), -1)
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    print("solver,rows,seconds_median,seconds_min,seconds_max,objective")
    for name, solve in solvers():
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            objective = solve(matrix)
            seconds.append(time.perf_counter() - start)
        print(f"{name},{len(matrix)},{statistics.median(seconds):.4f},{min(seconds):.4f},{max(seconds):.4f},{objective:.9g}",
              flush=True)


main()
