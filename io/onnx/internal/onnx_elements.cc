#include "firn/io/onnx/internal/onnx_elements.h"

#include <algorithm>

namespace firn::io::internal {
namespace {

constexpr int kFloatData = 4, kInt32Data = 5, kStringData = 6, kInt64Data = 7, kDoubleData = 10,
              kUint64Data = 11;

constexpr OnnxElement kElements[] = {
    {1, "FLOAT", 32, kFloatData, "F32"},
    {2, "UINT8", 8, kInt32Data, "U8"},
    {3, "INT8", 8, kInt32Data, "I8"},
    {4, "UINT16", 16, kInt32Data, "U16"},
    {5, "INT16", 16, kInt32Data, "I16"},
    {6, "INT32", 32, kInt32Data, "I32"},
    {7, "INT64", 64, kInt64Data, "I64"},
    {8, "STRING", 0, kStringData},
    {9, "BOOL", 8, kInt32Data, "BOOL"},
    {10, "FLOAT16", 16, kInt32Data, "F16"},
    {11, "DOUBLE", 64, kDoubleData, "F64"},
    {12, "UINT32", 32, kUint64Data, "U32"},
    {13, "UINT64", 64, kUint64Data, "U64"},
    {14, "COMPLEX64", 64, kFloatData},
    {15, "COMPLEX128", 128, kDoubleData},
    {16, "BFLOAT16", 16, kInt32Data, "BF16"},
    {17, "FLOAT8E4M3FN", 8, kInt32Data, "F8_E4M3"},
    {18, "FLOAT8E4M3FNUZ", 8, kInt32Data, "F8_E4M3FNUZ"},
    {19, "FLOAT8E5M2", 8, kInt32Data, "F8_E5M2"},
    {20, "FLOAT8E5M2FNUZ", 8, kInt32Data, "F8_E5M2FNUZ"},
    {21, "UINT4", 4, kInt32Data},
    {22, "INT4", 4, kInt32Data},
    {23, "FLOAT4E2M1", 4, kInt32Data},
    {24, "FLOAT8E8M0", 8, kInt32Data, "F8_E8M0"},
    {25, "UINT2", 2, kInt32Data},
    {26, "INT2", 2, kInt32Data},
    {27, "FLOAT6E2M3", 6, kInt32Data},
    {28, "FLOAT6E3M2", 6, kInt32Data},
};

// The types by the order of DType.
constexpr int kOfDType[] = {1, 11, 10, 16, 3, 6, 7, 2, 9};
static_assert(static_cast<int>(DType::kF32) == 0 && static_cast<int>(DType::kBF16) == 3 &&
              static_cast<int>(DType::kI64) == 6 && static_cast<int>(DType::kBool) == 8);

}  // namespace

const OnnxElement* FindOnnxElement(int64_t id) {
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                   [id](const OnnxElement& element) { return element.id == id; });
  return found == std::end(kElements) ? nullptr : found;
}

const OnnxElement* FindOnnxElement(std::string_view word) {
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                   [word](const OnnxElement& e) { return word == e.word; });
  return found == std::end(kElements) ? nullptr : found;
}

int OnnxElementOf(DType dtype) { return kOfDType[static_cast<int>(dtype)]; }

std::optional<int64_t> OnnxCount(const OnnxElement& element, const std::vector<int64_t>& dims) {
  constexpr int64_t kMost = int64_t{1} << 60;
  const int64_t most = kMost / std::max(element.bits, 1);
  int64_t n = 1;
  // A size of zero must not hide that the others overflow.
  int64_t sizes = 1;
  for (const int64_t size : dims) {
    if (size < 0 || __builtin_mul_overflow(sizes, std::max<int64_t>(size, 1), &sizes)) return {};
    if (sizes > most) return {};
    n *= size;
  }
  return n;
}

int64_t OnnxBytes(const OnnxElement& element, int64_t n) { return (n * element.bits + 7) / 8; }

int64_t OnnxNumbers(const OnnxElement& element, int64_t n) {
  if (element.id == 14 || element.id == 15) return 2 * n;  // real and imaginary part
  // 6 bits have a number of their own, 4 and 2 share those of 8.
  return element.bits == 4 ? (n + 1) / 2 : element.bits == 2 ? (n + 3) / 4 : n;
}

}  // namespace firn::io::internal
