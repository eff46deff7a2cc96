#ifndef FIRN_IO_NPY_NPY_H_
#define FIRN_IO_NPY_NPY_H_

// NumPy's files: one array (.npy) or several by their names (.npz):
//
//   Tensor x = io::ReadNpy("x.npy");
//   io::WriteNpz("both.npz", {{"x", x}, {"y", y}});  // numpy.load("both.npz")["x"]

#include <string>
#include <string_view>

#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

struct NpyOptions {
  // Arrays of 2-byte void elements, which bf16 of ml_dtypes become when NumPy saves them, are bf16.
  bool void_is_bf16 = false;
  LoadLimits limits = {};
};

// The array in a .npy file, on the host, row-major whatever the order in the file. f2, f4, f8, b1,
// i1, i4, i8 and u1 keep their dtype; i2 and u2 become i32, u4 and u8 i64. No pickle: arrays of
// objects are refused, as are strings, dates, complex numbers and structures.
// Throws firn::Error: DataLoss for a damaged file and Unimplemented for what is refused, as
// "<file>: offset <n>, <field>: expected ..., got ..."; ResourceExhausted beyond the limits, which
// are checked, as is the file's size, before memory is taken.
Tensor ReadNpy(const std::string& path, const NpyOptions& options = {});

// Replaces the file as a whole. bf16 is written as f4: NumPy has no such type. Throws firn::Error.
void WriteNpy(const std::string& path, const Tensor& tensor);

// The arrays of a .npz file by their names, without ".npy", in the order of the file. A ZIP that is
// damaged, encrypted, has a name twice, overlapping members, or other members than arrays is
// refused, with the errors of ReadNpy.
StateDict ReadNpz(const std::string& path, const NpyOptions& options = {});

struct WriteNpzOptions {
  bool compress = false;  // deflate, as numpy.savez_compressed
};

// Replaces the file as a whole. Equal dicts give equal files. Arrays of 4 GB and more are not
// compressed; they, and files of that size, are written as zip64, which NumPy reads. Throws
// firn::Error.
void WriteNpz(const std::string& path, const StateDict& arrays,
              const WriteNpzOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NPY_NPY_H_
