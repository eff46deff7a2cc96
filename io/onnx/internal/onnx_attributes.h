#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_ATTRIBUTES_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace firn::io::internal {

// Whether an operator of ONNX's own domain has an attribute in an opset; also when its name begins
// with "__", which the format keeps for programs' own.
bool HasOnnxAttribute(std::string_view op, int64_t opset, std::string_view attribute);

// The names of the operator's attributes: "axis, keepdims"; "none".
std::string OnnxAttributesOf(std::string_view op, int64_t opset);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_ATTRIBUTES_H_
