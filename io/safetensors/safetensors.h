#ifndef FIRN_IO_SAFETENSORS_SAFETENSORS_H_
#define FIRN_IO_SAFETENSORS_SAFETENSORS_H_

// Named tensors as Hugging Face's safetensors library has them
// (github.com/huggingface/safetensors): a header of JSON, behind it the elements as they lie in
// memory.
//
//   io::SaveSafetensors("net.safetensors", net.state_dict());
//   net.LoadStateDict(io::LoadSafetensors("net.safetensors"));

#include <string>

#include "firn/io/load_limits.h"
#include "firn/io/load_options.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// Options for reading a file. A plain value.
struct SafetensorsOptions {
  // Which entries are read, and the limits. Only the places of entries that are not wanted are
  // read.
  LoadOptions load = {};
  // Maps the file into memory, so that elements are read when a tensor is used; writes to a tensor
  // stay in this process. The file must then not become shorter while its tensors are in use: the
  // system ends a program that reads behind its end. Replacing the file as a whole is safe
  // (SaveSafetensors and most tools do that). Without this option the elements are read at once.
  bool map = true;
  // Elements of types that Firn does not have become a wider one that holds all their values: I16
  // and U16 i32, U32 and U64 i64, and the 8-bit floats (F8_E4M3, F8_E5M2, F8_E8M0 and the two
  // FNUZ) f32. Otherwise they are an error.
  bool widen = false;
};

// The tensors of a .safetensors file on the host, in the order of its header; or those of several,
// if `path` ends in ".json": an index (model.safetensors.index.json), whose files lie in its
// folder. It accepts the files that the reference library 0.8 reads, except names that are empty,
// too long or come twice, more than 8 dimensions, and bools other than 0 and 1. Throws firn::Error:
// DataLoss for a damaged file, Unimplemented for types that Firn does not have (`widen`), as
// "<file>: header, entry "<name>": expected ..., got ..."; ResourceExhausted beyond the limits,
// which are checked, as is the file's size, before memory is taken; NotFound and the like for a
// path.
StateDict LoadSafetensors(const std::string& path, const SafetensorsOptions& options = {});

// The texts of a file's "__metadata__" by their names. Errors as of LoadSafetensors.
OrderedMap<std::string> LoadSafetensorsMetadata(const std::string& path,
                                                const LoadLimits& limits = {});

struct SaveSafetensorsOptions {
  // Kept in the file. Other libraries ask for "format".
  OrderedMap<std::string> metadata = {{"format", "pt"}};
};

// Replaces the file as a whole. Tensors stand in the file as the reference writes them: the widest
// elements first, then by name, so that all are aligned; equal dicts give equal files. Throws
// firn::Error: InvalidArgument for an undefined tensor and for names that are no UTF-8, empty or
// "__metadata__"; those of the system for the path. The old file is then as it was.
void SaveSafetensors(const std::string& path, const StateDict& state,
                     const SaveSafetensorsOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_SAFETENSORS_SAFETENSORS_H_
