"""Common functions of this folder: reading result files, and pictures with reproducible bytes."""
import argparse
import csv
import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "motes"


def rows_of(path):
    """The rows of a CSV file as dictionaries; lines that begin with # are skipped."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    print(path)


def folders(doc):
    """The arguments `FOLDER [-o PICTURES]`: the folder of the CSV files, and that of the pictures (default: the same)."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", dest="pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    pictures = arguments.pictures or arguments.folder
    pictures.mkdir(parents=True, exist_ok=True)
    return arguments.folder, pictures
