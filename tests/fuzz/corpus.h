#ifndef FIRN_TESTS_FUZZ_CORPUS_H_
#define FIRN_TESTS_FUZZ_CORPUS_H_

#include <string>
#include <vector>

namespace firn::io {

// Small valid files of a reader: "image", "npy", "npz", "wav", "idx", "csv", "hdf5", "cifar",
// "graph", "csv_rows", "nnabla_cache", which is a folder in one file (targets.h), and headers of
// checkpoints that have the part a with two entries: "checkpoint". Made anew each time; equal on
// every machine but for what the libraries' versions do.
std::vector<std::string> Corpus(const std::string& reader);

}  // namespace firn::io

#endif  // FIRN_TESTS_FUZZ_CORPUS_H_
