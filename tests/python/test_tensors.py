"""Tensors as torch has them: arrays whose type, truth and single numbers are their own."""

from pathlib import Path

import motes
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
STACK = Path(__file__).parents[2] / "sample" / "stack.ome.tif"
KNOWN = {"voxel_um": [0.2, 0.1, 0.1], "dt_s": 1}


class Tensor:
    """A torch.Tensor on the CPU (or on a GPU, `kind` 2), as far as motes can see it."""

    def __init__(self, array, requires_grad=False, kind=1):
        self.array, self.requires_grad, self.kind = np.asarray(array), requires_grad, kind
        self.shape, self.ndim, self.dtype = self.array.shape, self.array.ndim, f"torch.{self.array.dtype}"

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (Tensor(part) for part in self.array)

    def __getitem__(self, key):
        return Tensor(self.array[key], kind=self.kind)

    def __array__(self, dtype=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.kind != 1:
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        return self.array if dtype is None else self.array.astype(dtype)

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def item(self):
        return self.array.item()

    def __float__(self):
        return float(self.array)

    def __index__(self):
        return self.item().__index__()

    def __bool__(self):
        if self.array.size != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.array)

    def __eq__(self, other):
        return Tensor(self.array == np.asarray(other))

    __hash__ = object.__hash__


@pytest.fixture(scope="module")
def frames():
    return pytest.importorskip("tifffile").imread(STACK)[:3]


def test_images_may_be_tensors(frames):
    expected = motes.track(frames, **KNOWN).tracks.x
    for source in (Tensor(frames), Tensor(frames.astype(np.float32)), [Tensor(frame) for frame in frames]):
        assert np.array_equal(motes.track(source, **KNOWN).tracks.x, expected)
    spots = motes.locate(frames[0], voxel_um=[0.2, 0.1, 0.1])
    assert motes.locate(Tensor(frames[0]), voxel_um=Tensor([0.2, 0.1, 0.1])).equals(spots)


def test_numbers_may_be_tensors(frames):
    plain = motes.track(frames, voxel_um=0.1, dt_s=0.5, gate=0.5, memory=1, threads=1).tracks
    found = motes.track(
        frames, voxel_um=Tensor(0.1), dt_s=Tensor(0.5), gate=Tensor(0.5), memory=Tensor(1), threads=Tensor(1)
    ).tracks
    assert np.array_equal(found.x, plain.x) and found.dt_s == 0.5
    f = pandas.DataFrame({"frame": [0, 0, 1, 1], "x": [0, 5, 0.1, 5.1], "y": 0.0})
    assert motes.link(f, Tensor(1.0), memory=Tensor(1)).particle.tolist() == [0, 1, 0, 1]


def test_costs_may_be_tensors(rng):
    solve = motes.matching.linear_sum_assignment
    costs = rng.random((4, 5))
    for given in (costs, costs.astype(np.float32), (9 * costs).astype(np.int64)):
        for found, expected in zip(solve(Tensor(given), maximize=Tensor(True)), solve(given, True)):
            assert np.array_equal(found, expected)
    assert solve([Tensor(row) for row in costs])[1].tolist() == solve(costs)[1].tolist()
    assert motes.matching.assign(Tensor(costs)).cost == motes.matching.assign(costs).cost


def test_tensors_that_cannot_be_read_say_what_to_do(frames):
    with pytest.raises(RuntimeError, match=r"tensor.detach\(\)"):
        motes.matching.linear_sum_assignment(Tensor([[1.0]], requires_grad=True))
    for call in (
        lambda: motes.matching.linear_sum_assignment(Tensor([[1.0]], kind=2)),
        lambda: motes.track(Tensor(frames, kind=2), **KNOWN),
        lambda: motes.locate(Tensor(frames[0], kind=2), voxel_um=1),
    ):
        with pytest.raises(TypeError, match=r"in a GPU's memory.*tensor.cpu\(\)"):
            call()
