// Prints the arrays that readers find in files: KIND of arguments (h5, words, npy, npz or wav),
// paths on the standard input, one a line. For each path a line "FILE <path>", then "ERROR <code>
// <message>", or a line "ARRAY <name> <dtype> <sizes> <bytes>" for each array, names and bytes in
// hexadecimal. KIND words reads the dataset "words".
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/error.h"
#include "firn/tensor/tensor.h"

namespace firn {
namespace {

// Never empty, so that fields can be told apart.
std::string Hex(const std::string& bytes) {
  return bytes.empty() ? "-" : absl::BytesToHexString(bytes);
}

void Print(const std::string& name, const Tensor& t) {
  const Tensor dense = t.Detach().Contiguous();
  const std::string bytes(dense.impl()->data,
                          static_cast<size_t>(dense.num_elements() * SizeOf(dense.dtype())));
  const auto sizes = t.shape().span();
  std::cout << "ARRAY " << Hex(name) << " " << DTypeName(t.dtype()) << " ("
            << absl::StrJoin(sizes.begin(), sizes.end(), ",") << ") " << Hex(bytes) << "\n";
}

void Print(const StateDict& arrays) {
  for (const auto& [name, tensor] : arrays) Print(name, tensor);
}

void PrintFile(std::string_view kind, const std::string& path) {
  io::LoadLimits limits;
  limits.max_total_bytes = 1 << 28;
  if (kind == "h5") {
    Print(io::Load(path, {.limits = limits}));
  } else if (kind == "words") {
    for (const std::string& word : io::LoadHdf5Words(path, "words", limits)) {
      std::cout << "WORD " << Hex(word) << "\n";
    }
  } else if (kind == "npy") {
    Print("array", io::ReadNpy(path, {.limits = limits}));
  } else if (kind == "npz") {
    Print(io::ReadNpz(path, {.limits = limits}));
  } else {
    const io::Wave wave = io::ReadWav(path, limits);
    Print(absl::StrCat(wave.sample_rate), wave.samples);
  }
}

}  // namespace
}  // namespace firn

int main(int, char** argv) {
  std::string path;
  while (std::getline(std::cin, path)) {
    std::cout << "FILE " << path << "\n";
    try {
      firn::PrintFile(argv[1], path);
    } catch (const firn::Error& e) {
      std::cout << "ERROR " << absl::StatusCodeToString(e.code()) << " " << absl::CEscape(e.what())
                << "\n";
    }
  }
  return 0;
}
