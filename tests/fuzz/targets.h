#ifndef FIRN_TESTS_FUZZ_TARGETS_H_
#define FIRN_TESTS_FUZZ_TARGETS_H_

// One function a reader, in the form that libFuzzer calls: it reads the bytes as a file and gives
// 0. A crash, a sanitizer's report or an abort is a finding; an error of the reader is none. Limits
// are small, so that what passes them all is still fast.

#include <cstddef>
#include <cstdint>

namespace firn::io {

int FuzzImage(const uint8_t* data, size_t size);  // PNG, JPEG, GIF, TIFF, BMP, PNM
int FuzzNpy(const uint8_t* data, size_t size);
int FuzzNpz(const uint8_t* data, size_t size);
int FuzzWav(const uint8_t* data, size_t size);
int FuzzIdx(const uint8_t* data, size_t size);
int FuzzCsv(const uint8_t* data, size_t size);
int FuzzHdf5(const uint8_t* data, size_t size);
int FuzzCifar(const uint8_t* data, size_t size);
int FuzzGraph(const uint8_t* data, size_t size);
int FuzzCsvRows(const uint8_t* data, size_t size);  // the table; its folder is empty

// A folder in one file: the contents of its files, in this order, each with the part's end behind
// it.
inline constexpr char kCachePartEnd[] = "\n====\n";
inline constexpr const char* kCacheParts[] = {"cache_index.csv", "cache_info.csv",
                                              "cache_00000000_00000001.npy",
                                              "cache_00000002_00000002.npy"};
int FuzzNnablaCache(const uint8_t* data, size_t size);
int FuzzCheckpoint(const uint8_t* data, size_t size);  // the header of one, in an intact file

}  // namespace firn::io

#endif  // FIRN_TESTS_FUZZ_TARGETS_H_
