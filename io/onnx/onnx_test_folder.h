#ifndef FIRN_IO_ONNX_ONNX_TEST_FOLDER_H_
#define FIRN_IO_ONNX_ONNX_TEST_FOLDER_H_

// Tests in the format of ONNX's backends (github.com/onnx/onnx, docs/OnnxBackendTest.md): a folder
// with model.onnx and folders test_data_set_0, test_data_set_1, ... of input_0.pb, output_0.pb, ...

#include <cstdint>
#include <string>

#include "firn/io/load_limits.h"

namespace firn::io {

enum class OnnxVerdict : uint8_t { kPass, kWrong, kUnsupported };

struct OnnxTestOptions {
  // An element may be apart from the expected one by atol + rtol times the size of that: ONNX's own
  // tolerances. For half types it is at least two of their steps, 2^-6 (as there) and 2^-9: with
  // two nodes in a row, each rounds on both sides by half a step at most.
  double rtol = 1e-3, atol = 1e-7;
  LoadLimits limits = {};
};

struct OnnxTestResult {
  OnnxVerdict verdict = OnnxVerdict::kPass;
  // The error, or the unsupported part. After a pass it is "", or a note that the model draws
  // random numbers, of which only shapes and types are compared.
  std::string why;
};

// Imports the model, runs it on the inputs of each data set and compares. Numbers of a type that
// Firn does not have are compared in the wider type that it uses instead (as LoadTorch does). A
// test is unsupported if a reader or the import says so, or if its data are no tensors; every other
// exception, such as for a damaged model, is a failure. Throws firn::Error where the folder has no
// model or no data.
OnnxTestResult TestOnnxFolder(const std::string& folder, const OnnxTestOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_TEST_FOLDER_H_
