#ifndef FIRN_TENSOR_TENSOR_IMPL_H_
#define FIRN_TENSOR_TENSOR_IMPL_H_

#include <cstdint>
#include <memory>

#include "firn/device/object_pool.h"
#include "firn/tensor/intrusive_ptr.h"
#include "firn/tensor/spec.h"

namespace firn::inner {

struct GradMeta;
class GradNode;
class Storage;

// The object to which a Tensor points. For library code only.
struct TensorImpl final : RefCounted, Pooled<TensorImpl> {
  IntrusivePtr<Storage> storage;
  char* data = nullptr;  // first element; inside storage
  TensorSpec spec;
  bool weak_number = false;    // made from a C++ number: takes part in promotion by its kind only
  uint32_t born_in;            // the number of the capture that it was made in; 0: in none
  double number = 0;           // the exact value of a floating weak_number
  bool requires_grad = false;  // a leaf that requires a gradient, or computed from one
  bool owned = false;          // it has an owner, see tensor/owner.h
  uint32_t grad_slot = 0;      // which of grad_node's outputs
  IntrusivePtr<GradNode> grad_node;  // the operation that computed this tensor; null for leaves
  std::unique_ptr<GradMeta> grad_meta;

  TensorImpl();
  TensorImpl(IntrusivePtr<Storage> storage, void* data, const TensorSpec& spec);
  ~TensorImpl();
  // Called for the last reference; out of line with all that goes with it.
  static void Destroy(TensorImpl* p) noexcept;
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_TENSOR_IMPL_H_
