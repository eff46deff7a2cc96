#include "firn/io/torch/internal/torch_types.h"

#include "firn/io/safetensors/internal/safetensors_elements.h"

namespace firn::io::internal {
namespace {

constexpr TorchType kTypes[] = {
    {"FloatStorage", "float32", "F32", 4},
    {"DoubleStorage", "float64", "F64", 8},
    {"HalfStorage", "float16", "F16", 2},
    {"BFloat16Storage", "bfloat16", "BF16", 2},
    {"CharStorage", "int8", "I8", 1},
    {"IntStorage", "int32", "I32", 4},
    {"LongStorage", "int64", "I64", 8},
    {"ByteStorage", "uint8", "U8", 1},
    {"BoolStorage", "bool", "BOOL", 1},
    {"ShortStorage", "int16", "I16", 2},
    {"", "uint16", "U16", 2},
    {"", "uint32", "U32", 4},
    {"", "uint64", "U64", 8},
    {"", "float8_e4m3fn", "F8_E4M3", 1},
    {"", "float8_e5m2", "F8_E5M2", 1},
    {"", "float8_e4m3fnuz", "F8_E4M3FNUZ", 1},
    {"", "float8_e5m2fnuz", "F8_E5M2FNUZ", 1},
    {"", "float8_e8m0fnu", "F8_E8M0", 1},
    {"ComplexFloatStorage", "complex64", "C64", 8},
    {"ComplexDoubleStorage", "complex128", "C128", 16},
    {"", "complex32", "C32", 4},
};

template <class Is>
const TorchType* Find(const Is& is) {
  for (const TorchType& type : kTypes) {
    if (is(type)) return &type;
  }
  return nullptr;
}

}  // namespace

const TorchType* FindTorchStorage(std::string_view storage) {
  return Find([&](const TorchType& type) { return !storage.empty() && type.storage == storage; });
}

const TorchType* FindTorchDType(std::string_view dtype) {
  return Find([&](const TorchType& type) { return type.dtype == dtype; });
}

const TorchType& TorchTypeOf(DType dtype) {
  const std::string_view word = SafetensorsWord(dtype);
  return *Find([&](const TorchType& type) { return type.word == word; });
}

}  // namespace firn::io::internal
