// A stand-in for cuDNN's graph API, as far as attention goes: matrix products, pointwise
// operations, reductions and matrices that are turned over. It refuses what cuDNN refuses by its
// documentation: attributes that a descriptor has not, or of another type or number; descriptors
// that are used before they are finalized, or changed after; operations whose operands do not fit;
// graphs whose tensors share a name, or are read before they are written; addresses that are not
// given, or odd.
//
// It proposes two engines: one that is not deterministic, and one that is.
#include "tests/device/fake_cudnn_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "firn/tensor/kernels/cuda/library_api.h"
#include "tests/device/fake_cudnn_node.h"
#include "tests/device/fake_library_work.h"

namespace firn::fake {
namespace {

constexpr int64_t kNondeterministic = 7, kEngine = 6;
constexpr int64_t kWorkspace = 1000;  // bytes

// --- Descriptors ---------------------------------------------------------------------------------

size_t SizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return sizeof(int);  // an enumerator
  }
}

std::set<const Node*>& Alive() {
  static auto* const alive = new std::set<const Node*>;
  return *alive;
}
Node* NodeOf(cudnnBackendDescriptor_t d) {
  const auto node = static_cast<Node*>(d);
  return Alive().contains(node) ? node : nullptr;
}

cudnnStatus_t CreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* to) {
  if (AttributesOf(type) == nullptr) return CUDNN_STATUS_NOT_SUPPORTED;
  auto* const node = new Node{.type = type};
  Alive().insert(node);
  *to = node;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t DestroyDescriptor(cudnnBackendDescriptor_t d) {
  Node* const node = NodeOf(d);
  if (node == nullptr) return CUDNN_STATUS_BAD_PARAM;
  Alive().erase(node);
  delete node;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t SetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  Node* const node = NodeOf(d);
  if (node == nullptr || values == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (node->finalized) return CUDNN_STATUS_BAD_PARAM;
  const std::vector<Attribute>& known = *AttributesOf(node->type);
  const auto a = std::find_if(known.begin(), known.end(),
                              [&](const Attribute& one) { return one.name == name; });
  if (a == known.end()) return CUDNN_STATUS_NOT_SUPPORTED;
  if (a->type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (count < a->least || count > a->most) return CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND;
  const auto* const bytes = static_cast<const char*>(values);
  std::vector<char> copy(bytes, bytes + static_cast<size_t>(count) * SizeOf(type));
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t i = 0; i < count; ++i) {
      const Node* const child =
          NodeOf(static_cast<const cudnnBackendDescriptor_t*>(values)[static_cast<size_t>(i)]);
      if (child == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      if (!child->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    }
  }
  node->values[name] = std::move(copy);
  return CUDNN_STATUS_SUCCESS;
}

// --- Operations and graphs -----------------------------------------------------------------------

GraphTensor TensorOf(const Node& node) {
  GraphTensor t;
  t.id = node.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  t.type = node.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  const auto sizes = node.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = node.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  std::copy(sizes.begin(), sizes.end(), t.sizes.begin());
  std::copy(strides.begin(), strides.end(), t.strides.begin());
  t.alignment = node.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  t.between = node.One<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  t.number = node.One<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  return t;
}

GraphOperation OperationOf(const Node& node) {
  GraphOperation op;
  const auto tensor = [&](cudnnBackendAttributeName_t name, GraphTensor* to) {
    const Node* const child = node.Child(name);
    if (child != nullptr) *to = TensorOf(*child);
    return child != nullptr;
  };
  if (node.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    op.kind = GraphOperation::kMatmul;
    tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC, &op.x);
    op.has_b = tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC, &op.b);
    tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC, &op.y);
  } else if (node.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
    op.kind = GraphOperation::kReduction;
    op.mode =
        node.Child(CUDNN_ATTR_OPERATION_REDUCTION_DESC)->One<int>(CUDNN_ATTR_REDUCTION_OPERATOR);
    tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &op.x);
    tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &op.y);
  } else if (node.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {
    op.kind = GraphOperation::kReshape;
    tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &op.x);
    tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &op.y);
  } else {
    op.kind = GraphOperation::kPointwise;
    const Node& how = *node.Child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    op.mode = how.One<int>(CUDNN_ATTR_POINTWISE_MODE);
    op.axis = how.One<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1);
    tensor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &op.x);
    tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &op.y);
    op.has_b = tensor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &op.b);
    op.has_chosen = tensor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, &op.chosen);
  }
  return op;
}

// Puts an operation at the end, with the tensors that it brings.
class GraphMaker {
 public:
  cudnnStatus_t Add(const GraphOperation& op) {
    for (const GraphTensor* t :
         {&op.x, op.has_b ? &op.b : nullptr, op.has_chosen ? &op.chosen : nullptr}) {
      if (t == nullptr) continue;
      if (t->between && !written_.contains(t->id)) return CUDNN_STATUS_BAD_PARAM;
      if (const cudnnStatus_t s = Know(*t); s != CUDNN_STATUS_SUCCESS) return s;
    }
    if (op.y.number || !written_.insert(op.y.id).second) return CUDNN_STATUS_BAD_PARAM;
    graph_.operations.push_back(op);
    return Know(op.y);
  }
  Graph graph() const { return graph_; }

 private:
  // A tensor has one name, in every descriptor of it.
  cudnnStatus_t Know(const GraphTensor& t) {
    const auto [at, first] = known_.emplace(t.id, t);
    const GraphTensor& other = at->second;
    if (!first && (other.type != t.type || other.sizes != t.sizes || other.strides != t.strides)) {
      return CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
    }
    if (!t.between) graph_.given.emplace(t.id, t);
    return CUDNN_STATUS_SUCCESS;
  }

  Graph graph_;
  std::map<int64_t, GraphTensor> known_;
  std::set<int64_t> written_;
};

cudnnStatus_t MakeGraph(Node* node) {
  GraphMaker maker;
  for (const Node* op : node->All<const Node*>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const cudnnStatus_t s = maker.Add(OperationOf(*op));
    if (s != CUDNN_STATUS_SUCCESS) return s;
  }
  node->graph = std::make_shared<Graph>(maker.graph());
  return CUDNN_STATUS_SUCCESS;
}

// Whether the engines of attention take it: of matrices of half types the columns are neighbours,
// and as many as documented, and rows begin at multiples of 16 bytes.
bool HasEngines(const Graph& graph) {
  int products = 0;
  for (const GraphOperation& op : graph.operations) {
    products += op.kind == GraphOperation::kMatmul ? 1 : 0;
  }
  if (products < 2) return false;
  for (const auto& [id, t] : graph.given) {
    if (t.type == CUDNN_DATA_FLOAT) continue;
    const size_t columns = t.strides[3] == 1 ? 3 : 2, rows = 5 - columns;
    if (t.strides[columns] != 1 || t.sizes[columns] % 8 != 0 || t.sizes[columns] > 128) {
      return false;
    }
    for (const size_t i : {size_t{0}, size_t{1}, rows}) {
      if (t.sizes[i] > 1 && (t.strides[i] < 1 || t.strides[i] % 8 != 0)) return false;
    }
  }
  return true;
}

bool IsOperation(cudnnBackendDescriptorType_t type) {
  return type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR ||
         type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR;
}

cudnnStatus_t Finalize(cudnnBackendDescriptor_t d) {
  Node* const node = NodeOf(d);
  if (node == nullptr || node->finalized) return CUDNN_STATUS_BAD_PARAM;
  for (const Attribute& a : *AttributesOf(node->type)) {
    if (a.needed && !node->values.contains(a.name)) return CUDNN_STATUS_BAD_PARAM;
  }
  cudnnStatus_t s = CUDNN_STATUS_SUCCESS;
  if (IsOperation(node->type)) s = CheckOperation(OperationOf(*node));
  if (node->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) s = MakeGraph(node);
  if (node->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    node->graph = node->Child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->graph;
  }
  if (node->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const Node& configuration = *node->Child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    node->graph = configuration.graph;
    node->engine = configuration.engine;
  }
  if (node->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR &&
      node->All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() !=
          node->All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size()) {
    s = CUDNN_STATUS_BAD_PARAM;
  }
  node->finalized = s == CUDNN_STATUS_SUCCESS;
  return s;
}

// --- What is asked of descriptors ----------------------------------------------------------------

// Writes into descriptors that were made for this and not finalized; the first of them become the
// engines or configurations.
cudnnStatus_t GiveEngines(const Node& from, bool configurations, int64_t most, int64_t* count,
                          void* to) {
  const int64_t there = !configurations ? 1 : HasEngines(*from.graph) ? 2 : 0;
  *count = most == 0 ? there : std::min(most, there);
  for (int64_t i = 0; i < *count && most > 0; ++i) {
    Node* const node = NodeOf(static_cast<cudnnBackendDescriptor_t*>(to)[i]);
    const auto wanted =
        configurations ? CUDNN_BACKEND_ENGINECFG_DESCRIPTOR : CUDNN_BACKEND_ENGINE_DESCRIPTOR;
    if (node == nullptr || node->finalized || node->type != wanted) return CUDNN_STATUS_BAD_PARAM;
    node->graph = from.graph;
    node->engine = !configurations ? from.engine : i == 0 ? kNondeterministic : kEngine;
    node->finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t GetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t most, int64_t* count,
                           void* to) {
  const Node* const node = NodeOf(d);
  if (node == nullptr || !node->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const auto is = [&](cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t n,
                      cudnnBackendAttributeType_t t) {
    return node->type == of && name == n && type == t;
  };
  if (is(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS,
         CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    return GiveEngines(*node, true, most, count, to);
  }
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE,
         CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    return GiveEngines(*node, false, most, count, to);
  }
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
         CUDNN_TYPE_NUMERICAL_NOTE) &&
      most > 0) {
    *count = 1;
    *static_cast<cudnnBackendNumericalNote_t*>(to) = node->engine == kNondeterministic
                                                         ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                                                         : CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return CUDNN_STATUS_SUCCESS;
  }
  if (is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
         CUDNN_TYPE_INT64) &&
      most > 0) {
    *count = 1;
    *static_cast<int64_t*>(to) = kWorkspace;
    return CUDNN_STATUS_SUCCESS;
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
}

// --- Calls ---------------------------------------------------------------------------------------

struct Handle {
  cudaStream_t stream = nullptr;
};
cudnnStatus_t Create(cudnnHandle_t* to) {
  static auto* const one = new Handle;  // plans of all tests are asked of it
  *to = reinterpret_cast<cudnnHandle_t>(one);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t SetStream(cudnnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
size_t Version() { return 91900; }
const char* ErrorString(cudnnStatus_t code) {
  static thread_local char text[32];
  std::snprintf(text, sizeof(text), "cudnnStatus_t %d", static_cast<int>(code));
  return text;
}
void LastError(char* message, size_t size) { std::snprintf(message, size, "the stand-in's"); }

constexpr size_t kMostGiven = 16;
struct Work {
  const Graph* graph;  // lives on: work that is queued reads it
  int64_t ids[kMostGiven];
  void* places[kMostGiven];
  float numbers[kMostGiven];
  size_t count;
  void* workspace;
};

void Run(const Work& w) {
  std::memset(w.workspace, 0xff, kWorkspace);  // two calls that use it at once read NaN
  std::map<int64_t, void*> places;
  for (size_t i = 0; i < w.count; ++i) {
    const bool number = w.graph->given.at(w.ids[i]).number;
    places[w.ids[i]] = number ? const_cast<float*>(&w.numbers[i]) : w.places[i];
  }
  RunGraph(w.graph->operations, places);
}

cudnnStatus_t Execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_is,
                      cudnnBackendDescriptor_t pack_is) {
  const Node *const plan = NodeOf(plan_is), *const pack = NodeOf(pack_is);
  if (plan == nullptr || pack == nullptr || !plan->finalized || !pack->finalized) {
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  }
  static auto* const graphs = new std::set<std::shared_ptr<Graph>>;
  graphs->insert(plan->graph);
  Work w{};
  w.graph = plan->graph.get();
  w.workspace = pack->One<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const auto ids = pack->All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = pack->All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto on_device = [](const void* at, int64_t bytes, int64_t alignment) {
    return reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(alignment) == 0 &&
           TheCuda().Owns(0, at, static_cast<size_t>(bytes));
  };
  const bool fits = plan->engine == kEngine && ids.size() == w.graph->given.size() &&
                    ids.size() <= kMostGiven && on_device(w.workspace, kWorkspace, 256);
  if (!fits) return CUDNN_STATUS_BAD_PARAM;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto t = w.graph->given.find(ids[i]);
    if (t == w.graph->given.end() || std::count(ids.begin(), ids.end(), ids[i]) != 1 ||
        data[i] == nullptr) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    w.ids[i] = ids[i];
    w.places[i] = data[i];
    if (t->second.number) {
      w.numbers[i] = *static_cast<const float*>(data[i]);
    } else if (!on_device(data[i], t->second.bytes(), t->second.alignment)) {
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
    }
  }
  w.count = ids.size();
  return Queue<Run>(reinterpret_cast<Handle*>(handle)->stream, w) ? CUDNN_STATUS_SUCCESS
                                                                  : CUDNN_STATUS_EXECUTION_FAILED;
}

constexpr cuda::DnnApi kApi = {
    .set_device = SetDevice,
    .version = Version,
    .error_string = ErrorString,
    .last_error = LastError,
    .create = Create,
    .set_stream = SetStream,
    .create_descriptor = CreateDescriptor,
    .destroy_descriptor = DestroyDescriptor,
    .set_attribute = SetAttribute,
    .get_attribute = GetAttribute,
    .finalize = Finalize,
    .execute = Execute,
};

}  // namespace

void UseCudnnGraph(bool use) { cuda::LibraryApi<cuda::DnnApi>::SetStandIn(use ? &kApi : nullptr); }

}  // namespace firn::fake
