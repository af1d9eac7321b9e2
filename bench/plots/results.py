"""What the scripts of this folder share: reading result files, and pictures that are the same bytes from the same numbers."""
import argparse
import csv
import pathlib

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "motes"


def rows_of(path):
    """The rows of a CSV file as dictionaries; lines that begin with # are left out."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    print(path)


def folders(doc):
    """Of `FOLDER [-o PICTURES]` on the command line: where the CSV files are, and where pictures go (there too)."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", dest="pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    pictures = arguments.pictures or arguments.folder
    pictures.mkdir(parents=True, exist_ok=True)
    return arguments.folder, pictures
