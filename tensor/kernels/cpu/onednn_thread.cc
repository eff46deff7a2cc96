#include "firn/tensor/kernels/cpu/onednn_thread.h"

namespace firn::cpu {

dnnl::engine& OneDnnEngine() {
  static auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

}  // namespace firn::cpu
