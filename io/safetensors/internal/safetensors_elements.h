#ifndef FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_ELEMENTS_H_
#define FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_ELEMENTS_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// How elements of a type of the format are stored, and their dtype. Nothing for types that need
// widening, unless `widen`, and for types that no dtype can hold.
std::optional<StoredType> StoredTypeOf(std::string_view word, bool widen);

// The format's word for a dtype.
const char* SafetensorsWord(DType dtype);

// Whether the type is one of the format's 8-bit floats.
bool IsFloat8(std::string_view word);

// The values of 8-bit floats (OCP's 8-bit Floating Point Specification 1.0; FNUZ: Noune et al.
// 2022, arXiv 2206.02915) at the front of `data`, in place: it has room for `n` floats.
void WidenFloat8(std::string_view word, int64_t n, char* data);

}  // namespace firn::io::internal

#endif  // FIRN_IO_SAFETENSORS_INTERNAL_SAFETENSORS_ELEMENTS_H_
