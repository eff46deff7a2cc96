#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_ELEMENTS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_ELEMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// A type of the format's elements and how its numbers are stored (TensorProto in onnx.proto).
struct OnnxElement {
  int id;
  const char* word;  // the format's
  int bits;          // of an element as it lies in memory; 0: words
  int field;         // of TensorProto, which has the numbers where they do not lie as in memory
  const char* stored = nullptr;  // the type's word in safetensors, if it has one
};

// Null for an unknown id.
const OnnxElement* FindOnnxElement(int64_t id);
// By its word: "FLOAT".
const OnnxElement* FindOnnxElement(std::string_view word);

// The id of a dtype; the format has all of them.
int OnnxElementOf(DType dtype);

// How many elements there are; nothing for a negative size or more than 2^60 bits of them.
std::optional<int64_t> OnnxCount(const OnnxElement& element, const std::vector<int64_t>& dims);

// Bytes of `n` elements as they lie in memory: those of less than 8 bits follow each other.
int64_t OnnxBytes(const OnnxElement& element, int64_t n);

// How many numbers `n` elements take in typed fields.
int64_t OnnxNumbers(const OnnxElement& element, int64_t n);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_ELEMENTS_H_
