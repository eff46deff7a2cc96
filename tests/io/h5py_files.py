"""What other_readers_test.py has h5py write."""

import os

try:
    import h5py
    import numpy
except ImportError:
    h5py = None


def h5_files(folder):
    """Every kind of HDF5 file that h5py writes and Firn reads."""
    n = numpy.arange(60, dtype="<f4").reshape(6, 10)

    def make(name, fill, **kwargs):
        path = os.path.join(folder, name)
        with h5py.File(path, "w", **kwargs) as file:
            fill(file)
        return path

    def layouts(file):
        file["contiguous"] = n
        file["scalar"] = numpy.float64(2.5)
        file["big"] = n.astype(">i2")
        file["bool"] = n > 7
        for name, kwargs in {
                "one": {"chunks": (6, 10)},
                "one_gzip": {"chunks": (6, 10), "compression": "gzip", "fletcher32": True},
                "fixed": {"chunks": (4, 3)},
                "fixed_gzip": {"chunks": (4, 3), "compression": "gzip", "shuffle": True,
                               "fletcher32": True},
                "grows": {"chunks": (4, 3), "maxshape": (None, 10)},
                "grows_second": {"chunks": (4, 3), "maxshape": (12, None), "fletcher32": True},
                "grows_both": {"chunks": (4, 3), "maxshape": (None, None)},
                "grows_both_gzip": {"chunks": (4, 3), "maxshape": (None, None),
                                    "compression": "gzip"},
                "may_be_larger": {"chunks": (4, 3), "maxshape": (20, 30)}}.items():
            file.create_dataset(name, data=n, **kwargs)
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_chunk((4, 3))
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        space = h5py.h5s.create_simple((6, 10))
        h5py.h5d.create(file.id, b"implicit", h5py.h5t.IEEE_F32LE, space, early)
        file["implicit"][...] = n
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, space, compact)
        file["compact"][...] = n

    def fills(file):
        for alloc in ("EARLY", "LATE", "INCR"):
            for chunk in (None, (4, 3)):
                if alloc == "INCR" and chunk is None:
                    continue
                for value in (None, 7):
                    for when in ("ALLOC", "IFSET", "NEVER"):
                        if when == "NEVER" and alloc == "EARLY":
                            continue  # whatever bytes were in the file
                        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                        dcpl.set_alloc_time(getattr(h5py.h5d, "ALLOC_TIME_" + alloc))
                        dcpl.set_fill_time(getattr(h5py.h5d, "FILL_TIME_" + when))
                        if value is not None:
                            dcpl.set_fill_value(numpy.array(value, ">i4"))
                        if chunk:
                            dcpl.set_chunk(chunk)
                        for written in (False, True):
                            name = "%s_%s_%s_%s_%s" % (alloc, chunk is not None, value, when, written)
                            h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32BE,
                                            h5py.h5s.create_simple((6, 10)), dcpl)
                            if written:
                                file[name][2:4, 1:3] = 5

    def many(file):
        file.create_dataset("pages", data=numpy.arange(3000), chunks=(1,))
        file.create_dataset("growing", data=numpy.arange(3000), chunks=(1,), maxshape=(None,))
        file.create_dataset("tree", data=numpy.arange(900).reshape(30, 30), chunks=(1, 1),
                            maxshape=(None, None))
        grown = file.create_dataset("grown", shape=(1,), dtype="<i4", chunks=(2,),
                                    maxshape=(None,), fillvalue=3)
        grown.resize((4000,))
        grown[3001] = 9
        shrunk = file.create_dataset("shrunk", data=numpy.arange(40), chunks=(3,), maxshape=(90,))
        shrunk.resize((20,))

    def links(file):
        file["a/b"] = n
        file["hard"] = file["a/b"]
        file["soft"] = h5py.SoftLink("/a/b")
        file["a/beside"] = h5py.SoftLink("b")
        file["group"] = h5py.SoftLink("a")
        file["through"] = h5py.SoftLink("group/./beside")
        file["type"] = numpy.dtype("<i2")
        file.create_dataset("typed", data=[1, 2, 3], dtype=file["type"])
        for i in range(12):
            file["a/b"].attrs["attribute%d" % i] = i

    paths = []
    for version in ("earliest", "v108", "latest"):
        for name, fill in (("layouts", layouts), ("fills", fills), ("many", many), ("links", links)):
            paths.append(make("%s_%s.h5" % (name, version), fill, libver=version))
    paths.append(make("user_block.h5", layouts, userblock_size=1024))
    paths.append(make("user_block_latest.h5", layouts, userblock_size=512, libver="latest"))
    return paths
