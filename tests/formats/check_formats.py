#!/usr/bin/env python3
"""Other people's libraries against motes: what they write is read, what motes writes they open.

Usage: check_formats.py MOTES [WORK_FOLDER]

Stores written by zarr, ome-zarr and tensorstore give the bytes of tracks.csv that an OME-TIFF of the same
voxels gives; GEFF folders pass the geff package's validators; TrackMate XML is read by pytrackmate; CTC
folders and napari tables are read back. Modules that are missing are left out and named; exit code 77 where
nothing could be checked, 1 for a failure.
"""
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

MISSING = []
FAILED = []
CHECKED = []


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        MISSING.append(name)
        return None


np = module("numpy")


def check(name, good, why=""):
    (CHECKED if good else FAILED).append(name)
    print(("ok      " if good else "FAILED  ") + name + (f": {why}" if why and not good else ""))


def run(motes, *arguments, expect=0):
    done = subprocess.run([motes, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != expect:
        raise RuntimeError(f"motes {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def spots(frames=4, shape=(9, 45, 52), count=12):
    """[t, z, y, x] uint16: Gaussian spots that drift."""
    random = np.random.default_rng(7)
    start = random.uniform([2, 6, 6], np.array(shape) - [3, 10, 10], (count, 3))
    z, y, x = np.meshgrid(*map(np.arange, shape), indexing="ij")
    movie = np.full((frames, *shape), 100.0)
    for t in range(frames):
        for cz, cy, cx in start + t * np.array([0.1, 0.7, 0.5]):
            movie[t] += 900 * np.exp(-((z - cz) ** 2 / 2 + ((y - cy) ** 2 + (x - cx) ** 2) / 4.5))
    return (movie + random.normal(0, 5, movie.shape)).clip(0, 65535).astype("u2")


VOXEL = (0.25, 0.1, 0.1)
DT = 0.5


def multiscales(axes, scale, version):
    units = {"t": ("time", "second"), "c": ("channel", None)}
    described = []
    for axis in axes:
        kind, unit = units.get(axis, ("space", "micrometer"))
        described.append({"name": axis, "type": kind} | ({"unit": unit} if unit else {}))
    image = {"axes": described, "datasets": [{"path": "0", "coordinateTransformations": [
        {"type": "scale", "scale": list(scale)}]}], "name": "image"}
    return {"multiscales": [image | ({"version": "0.4"} if version == "0.4" else {})]}


def write_group(zarr, path, version, axes, data, **array):
    shutil.rmtree(path, ignore_errors=True)
    fmt = 2 if version == "0.4" else 3
    group = zarr.open_group(path, mode="w", zarr_format=fmt)
    made = group.create_array("0", shape=data.shape, dtype=data.dtype, **array)
    made[...] = data
    sizes = {"t": DT, "c": 1.0, "z": VOXEL[0], "y": VOXEL[1], "x": VOXEL[2]}
    meta = multiscales(axes, [sizes[a] for a in axes], version)
    group.attrs.update(meta if version == "0.4" else {"ome": {"version": "0.5"} | meta})


def zarr_stores(zarr, folder, movie):
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec
    import numcodecs

    tczyx = movie[:, None]
    stores = {}

    def add(name, version, axes, data, **array):
        stores[name] = folder / f"{name}.ome.zarr"
        write_group(zarr, stores[name], version, axes, data, **array)

    chunks = (1, 1, 4, 16, 20)
    for name, codec in [("v2-blosc-lz4", numcodecs.Blosc("lz4", shuffle=1)), ("v2-blosc-zstd", numcodecs.Blosc("zstd", shuffle=2)),
                        ("v2-zstd", numcodecs.Zstd()), ("v2-gzip", numcodecs.GZip()), ("v2-zlib", numcodecs.Zlib()),
                        ("v2-lz4", numcodecs.LZ4()), ("v2-none", None)]:
        add(name, "0.4", "tczyx", tczyx, chunks=chunks, compressors=codec)
    add("v2-slash", "0.4", "tzyx", movie, chunks=(2, 9, 45, 52), chunk_key_encoding={"name": "v2", "separator": "/"})
    add("v2-fortran", "0.4", "tzyx", movie, chunks=(1, 4, 16, 20), order="F")
    add("v2-big-endian", "0.4", "tzyx", movie.astype(">u2"), chunks=(1, 4, 16, 20))
    for name, codec in [("v3-blosc", BloscCodec(cname="zstd")), ("v3-zstd", ZstdCodec(checksum=True)), ("v3-gzip", GzipCodec()), ("v3-none", None)]:
        add(name, "0.5", "tczyx", tczyx, chunks=chunks, compressors=codec)
    add("v3-crc", "0.5", "tzyx", movie, chunks=(1, 4, 16, 20), compressors=[ZstdCodec(), Crc32cCodec()])
    add("v3-shards", "0.5", "tczyx", tczyx, chunks=(1, 1, 4, 16, 20), shards=(1, 1, 12, 48, 60), compressors=BloscCodec(cname="lz4"))
    add("v3-shards-over-time", "0.5", "tzyx", movie, chunks=(1, 3, 15, 13), shards=(4, 9, 45, 52), compressors=ZstdCodec())
    add("v3-transposed", "0.5", "tzyx", movie, chunks=(1, 4, 16, 20), filters=[TransposeCodec(order=(0, 3, 1, 2))], compressors=ZstdCodec())
    add("v3-dots", "0.5", "tzyx", movie, chunks=(1, 4, 16, 20), chunk_key_encoding={"name": "default", "separator": "."})
    return stores


def ome_zarr_stores(folder, movie):
    from ome_zarr.writer import write_image
    from ome_zarr.format import FormatV04, FormatV05

    stores = {}
    for name, fmt in [("ome-zarr-0.4", FormatV04()), ("ome-zarr-0.5", FormatV05())]:
        path = folder / f"{name}.zarr"
        shutil.rmtree(path, ignore_errors=True)
        units = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}
        scale = dict(zip("tzyx", (DT, *VOXEL)))
        write_image(movie, str(path), axes="tzyx", axes_units=units, scale=scale, scale_factors=(2,), fmt=fmt)
        stores[name] = path
    return stores


def tensorstore_stores(ts, folder, movie):
    path = folder / "tensorstore.ome.zarr"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {
        "ome": {"version": "0.5"} | multiscales("tzyx", (DT, *VOXEL), "0.5")}}))
    sharding = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1, 3, 16, 20], "index_location": "start",
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}
    store = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path / "0")}, "metadata": {
        "shape": list(movie.shape), "data_type": "uint16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 9, 48, 60]}}, "codecs": [sharding]}},
        create=True).result()
    store[...].write(movie).result()
    return {"tensorstore": path}


BDV_XML = """<?xml version="1.0" encoding="UTF-8"?>
<SpimData version="0.2"><BasePath type="relative">.</BasePath><SequenceDescription>
<ImageLoader format="bdv.n5" version="1.0"><n5 type="relative">movie.n5</n5></ImageLoader>
<ViewSetups><ViewSetup><id>0</id><size>{x} {y} {z}</size><voxelSize><unit>um</unit><size>{sx} {sy} {sz}</size></voxelSize>
<attributes><channel>1</channel></attributes></ViewSetup></ViewSetups>
<Timepoints type="range"><first>0</first><last>{last}</last></Timepoints></SequenceDescription></SpimData>
"""


def n5_stores(ts, folder, movie):
    """BigDataViewer's N5, written by tensorstore."""
    stores = {}
    for name, compression in [("gzip", {"type": "gzip"}), ("raw", {"type": "raw"}), ("zstd", {"type": "zstd"}),
                              ("blosc", {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1})]:
        root = folder / f"n5-{name}"
        shutil.rmtree(root, ignore_errors=True)
        (root / "movie.n5").mkdir(parents=True)
        (root / "movie.n5/attributes.json").write_text('{"n5": "2.5.1"}')
        for t, volume in enumerate(movie):
            store = ts.open({"driver": "n5", "kvstore": {"driver": "file", "path": str(root / f"movie.n5/setup0/timepoint{t}/s0")},
                             "metadata": {"dimensions": list(volume.shape[::-1]), "blockSize": [20, 16, 4], "dataType": "uint16",
                                          "compression": compression}}, create=True).result()
            store[...].write(volume.T).result()
        (root / "movie.n5/setup0/attributes.json").write_text('{"downsamplingFactors": [[1, 1, 1]], "dataType": "uint16"}')
        (root / "movie.xml").write_text(BDV_XML.format(x=movie.shape[3], y=movie.shape[2], z=movie.shape[1], sx=VOXEL[2],
                                                       sy=VOXEL[1], sz=VOXEL[0], last=len(movie) - 1))
        stores[f"BDV N5, {name}, by its XML"] = root / "movie.xml"
        stores[f"BDV N5, {name}"] = root / "movie.n5"
    return stores


def check_images(motes, folder):
    tifffile, zarr = module("tifffile"), module("zarr")
    if tifffile is None or zarr is None:
        return
    movie = spots()
    tiff = folder / "movie.ome.tif"
    tifffile.imwrite(tiff, movie, metadata={"axes": "TZYX", "PhysicalSizeX": VOXEL[2], "PhysicalSizeXUnit": "µm",
                                            "PhysicalSizeY": VOXEL[1], "PhysicalSizeYUnit": "µm", "PhysicalSizeZ": VOXEL[0],
                                            "PhysicalSizeZUnit": "µm", "TimeIncrement": DT, "TimeIncrementUnit": "s"})
    run(motes, "track", "--force", tiff, "-o", folder / "tiff", "--quiet", "--set", "output.vtk=false", "--set", "output.preview=false")
    wanted = (folder / "tiff/tracks.csv").read_bytes()
    check("the OME-TIFF has tracks", wanted.count(b"\n") > 30)
    stores = zarr_stores(zarr, folder, movie)
    if module("ome_zarr"):
        stores |= ome_zarr_stores(folder, movie)
    if ts := module("tensorstore"):
        stores |= tensorstore_stores(ts, folder, movie)
        stores |= n5_stores(ts, folder, movie)
    for name, path in stores.items():
        try:
            dt = ["--set", f"input.dt_s={DT}"] if "N5" in name else []
            run(motes, "track", "--force", path, "-o", folder / "zarr", "--quiet", "--set", "output.vtk=false", "--set",
                "output.preview=false", *dt)
            check(f"{name}: tracks as from OME-TIFF", (folder / "zarr/tracks.csv").read_bytes() == wanted)
        except RuntimeError as error:
            check(name, False, str(error))
    plate = zarr.open_group(folder / "plate.zarr", mode="w", zarr_format=2)
    plate.attrs["plate"] = {"wells": [{"path": "B/3"}]}
    check("a plate is refused, naming an image", "B/3/0" in run(motes, "info", folder / "plate.zarr", expect=3))
    array = zarr.create_array(folder / "plain.zarr", shape=movie.shape, chunks=(1, 9, 45, 52), dtype="u2", overwrite=True)
    array[...] = movie
    check("a plain array asks for its axes", "input.axes" in run(motes, "info", folder / "plain.zarr", expect=3))
    run(motes, "track", "--force", folder / "plain.zarr", "-o", folder / "plain", "--quiet", "--set", "input.axes=TZYX", "--set",
        f"input.voxel_um=[{VOXEL[0]}, {VOXEL[1]}, {VOXEL[2]}]", "--set", f"input.dt_s={DT}")
    check("a plain array with input.axes: tracks as from OME-TIFF", (folder / "plain/tracks.csv").read_bytes() == wanted)
    check_tracks(motes, folder, folder / "tiff/tracks.csv")


def check_tracks(motes, folder, table):
    geff, pytrackmate = module("geff"), module("pytrackmate")
    pandas = module("pandas")
    divided = folder / "divided.csv"
    divided.write_text("particle,frame,t_s,x_um,y_um,z_um,parent,quality\n" + "".join(
        f"{p},{f},{f * .5},{p + f / 3},{p * 2},{f / 7},{m},{p}.5\n"
        for p, m, frames in [(1, -1, (0, 1, 2)), (2, 1, (3, 4)), (3, 1, (3, 5)), (9, 3, (6, 7))] for f in frames))
    for source in (table, divided):
        if geff is not None:
            path = folder / (source.stem + ".geff")
            run(motes, "convert", source, path)
            from geff.validate.data import ValidationConfig, validate_data
            reader = geff.GeffReader(path)
            reader.read_node_props()
            reader.read_edge_props()
            graph = reader.build()
            props = graph["metadata"].track_node_props
            validate_data(graph, ValidationConfig(graph=True, sphere=False, ellipsoid=False, lineage="lineage" in props,
                                                  tracklet="tracklet" in props))
            geff.validate_structure(path)
            back = folder / (source.stem + "-back.csv")
            same = folder / (source.stem + "-same.csv")
            run(motes, "convert", path, back)
            run(motes, "convert", source, same)
            check(f"GEFF of {source.name} is valid and reads back to the same table", back.read_bytes() == same.read_bytes())
        if pytrackmate is not None:
            path = folder / (source.stem + ".trackmate.xml")
            run(motes, "convert", source, path)
            peaks = pytrackmate.trackmate_peak_import(str(path), get_tracks=True)
            rows = source.read_text().count("\n") - 1
            check(f"pytrackmate reads TrackMate XML of {source.name}", len(peaks) == rows, f"{len(peaks)} of {rows}")
        if pandas is not None:
            path = folder / (source.stem + ".napari.csv")
            run(motes, "convert", source, path)
            check(f"napari's columns of {source.name}", list(pandas.read_csv(path).columns[:5]) == ["track_id", "t", "z", "y", "x"])


def main():
    if len(sys.argv) < 2 or np is None:
        print("needs the path of motes, and numpy")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else scratch)
        folder.mkdir(parents=True, exist_ok=True)
        check_images(sys.argv[1], folder)
    if MISSING:
        print("left out, for these modules are missing: " + ", ".join(MISSING))
    print(f"{len(CHECKED)} checks passed, {len(FAILED)} failed")
    if FAILED:
        return 1
    return 0 if CHECKED else 77


if __name__ == "__main__":
    sys.exit(main())
