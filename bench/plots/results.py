"""What the scripts of this folder share: reading result files, and pictures that are the same bytes from the same numbers."""
import csv

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "motes"


def rows_of(path):
    """The rows of a CSV file as dictionaries; lines that begin with # are left out."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
