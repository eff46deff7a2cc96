#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_RECURRENT_STEPS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_RECURRENT_STEPS_H_

// Recurrent layers and their gradients written step by step: every step of the captured run is
// nodes of its own. Their inputs and results are those of tensor/problems/recurrent_problem.h.

#include <vector>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {

// One step of a layer of a kind. Stateless.
class OnnxRecurrentStep {
 public:
  virtual ~OnnxRecurrentStep() = default;
  // The rows that a layer keeps of a step, and the states behind it: h, or h and c. gx: x w_ih^T +
  // b_ih; gh: h w_hh^T + b_hh.
  struct After {
    std::vector<OnnxValue> states, kept;
  };
  virtual After Forward(OnnxExportCall& n, const OnnxValue& gx, const OnnxValue& gh,
                        const std::vector<OnnxValue>& before) const = 0;
  // From the gradients of the states behind a step those of gx and gh, of the states before it (not
  // through gh; absent: nothing) and of w_hr (absent: none). `kept` are the rows of what was kept,
  // `h` those of y.
  struct Gradients {
    OnnxValue gx, gh;
    std::vector<OnnxValue> before;
    OnnxValue projected;
  };
  virtual Gradients Backward(OnnxExportCall& n, const OnnxValue& h,
                             const std::vector<OnnxValue>& kept,
                             const std::vector<OnnxValue>& before,
                             const std::vector<OnnxValue>& after) const = 0;
};

class OnnxLstmStep final : public OnnxRecurrentStep {
 public:
  After Forward(OnnxExportCall& n, const OnnxValue& gx, const OnnxValue& gh,
                const std::vector<OnnxValue>& before) const override;
  Gradients Backward(OnnxExportCall& n, const OnnxValue& h, const std::vector<OnnxValue>& kept,
                     const std::vector<OnnxValue>& before,
                     const std::vector<OnnxValue>& after) const override;
};

class OnnxGruStep final : public OnnxRecurrentStep {
 public:
  After Forward(OnnxExportCall& n, const OnnxValue& gx, const OnnxValue& gh,
                const std::vector<OnnxValue>& before) const override;
  Gradients Backward(OnnxExportCall& n, const OnnxValue& h, const std::vector<OnnxValue>& kept,
                     const std::vector<OnnxValue>& before,
                     const std::vector<OnnxValue>& after) const override;
};

class OnnxRnnStep final : public OnnxRecurrentStep {
 public:
  explicit OnnxRnnStep(bool relu) : relu_(relu) {}
  After Forward(OnnxExportCall& n, const OnnxValue& gx, const OnnxValue& gh,
                const std::vector<OnnxValue>& before) const override;
  Gradients Backward(OnnxExportCall& n, const OnnxValue& h, const std::vector<OnnxValue>& kept,
                     const std::vector<OnnxValue>& before,
                     const std::vector<OnnxValue>& after) const override;

 private:
  const bool relu_;
};

// The call is the layer, or its gradients.
void WriteLayerByStep(OnnxExportCall& n, const OnnxRecurrentStep& step);
void WriteLayerGradByStep(OnnxExportCall& n, const OnnxRecurrentStep& step);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_RECURRENT_STEPS_H_
