"""Writes the files of this folder with numpy, ml_dtypes and safetensors, whose word on their own formats counts.

usage: python3 make_fixtures.py   (in a virtual environment that has the three packages; the tests need none of them)
Element i (in C order) of every array is i - 3; of unsigned ones i; of booleans i odd; floats a quarter of that.
"""
import io
import os
import zipfile

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPE = (2, 3, 4)


def values(dtype):
    dtype = np.dtype(dtype)
    count = np.arange(np.prod(SHAPE))
    if dtype.kind == "b":
        return (count % 2 == 1).reshape(SHAPE)
    if dtype.kind == "u":
        return count.astype(dtype).reshape(SHAPE)
    if dtype.kind == "i":
        return (count - 3).astype(dtype).reshape(SHAPE)
    return ((count - 3) / 4).astype(dtype).reshape(SHAPE)


DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
TEXTS = {
    "tokens": np.array(["The", "cat", "is", "naïve", "猫😀", ""]),
    "bytes": np.array([b"a", b"bcd"]),
    "mask_kind": np.array("keep"),
    "options": np.array('{"heads": 2, "causal": true, "mask-kind": "keep"}'),
}


def path(name):
    return os.path.join(HERE, name)


def main():
    arrays = {np.dtype(d).name: values(d) for d in DTYPES}
    arrays.update({"big_" + np.dtype(d).name: values(d).astype(">" + d) for d in DTYPES if d[-1] in "248"})
    arrays["fortran"] = np.asfortranarray(values("f4"))
    arrays["big_fortran"] = np.asfortranarray(values("i2").astype(">i2"))
    arrays["scalar"] = np.float64(2.5)
    arrays["empty"] = np.zeros((0, 3), "f4")
    np.savez(path("numpy.npz"), **arrays)
    np.savez_compressed(path("numpy_compressed.npz"), **arrays)
    np.savez(path("texts.npz"), **TEXTS)
    np.save(path("fortran.npy"), np.asfortranarray(values("f8")))
    np.save(path("big_endian.npy"), values("f4").astype(">f4"))
    np.save(path("bfloat16.npy"), values(ml_dtypes.bfloat16))
    for version in (2, 3):
        with open(path("version%d.npy" % version), "wb") as file:
            np.lib.format.write_array(file, values("f4"), version=(version, 0))
    streamed = io.BytesIO()
    with zipfile.ZipFile(Forward(streamed), "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("q.npy", "w") as entry:
            np.lib.format.write_array(entry, values("f4"))
    with open(path("streamed.npz"), "wb") as file:
        file.write(streamed.getvalue())
    tensors = {np.dtype(d).name: values(d) for d in DTYPES + [ml_dtypes.bfloat16]}
    tensors["fp8"] = values(ml_dtypes.float8_e4m3fn)
    tensors["scalar"] = np.array(2.5)
    metadata = {"format": "np", "tokens": '["The", "cat"]', "options": '{"heads": 2}', "mask_kind": "keep"}
    save_file(tensors, path("all_types.safetensors"), metadata)


class Forward:
    """A stream that cannot go back: zipfile then writes data descriptors."""

    def __init__(self, target):
        self.write = target.write
        self.flush = target.flush


if __name__ == "__main__":
    main()
