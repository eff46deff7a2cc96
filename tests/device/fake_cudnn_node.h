#ifndef FIRN_TESTS_DEVICE_FAKE_CUDNN_NODE_H_
#define FIRN_TESTS_DEVICE_FAKE_CUDNN_NODE_H_

// Descriptors of the stand-in for cuDNN's graph API, and which attributes each has. Needs CUDA.

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tests/device/fake_cudnn_graph.h"

namespace firn::fake {

struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t least = 1, most = 1;
  bool needed = true;
};

// Returns null for a descriptor that the stand-in does not have.
const std::vector<Attribute>* AttributesOf(cudnnBackendDescriptorType_t type);

struct Graph {
  std::vector<GraphOperation> operations;
  std::map<int64_t, GraphTensor> given;  // what a call brings
};

struct Node {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> values = {};
  std::shared_ptr<Graph> graph = nullptr;  // of graphs, and of what is made of them
  int64_t engine = 0;

  template <class T>
  std::vector<T> All(cudnnBackendAttributeName_t name) const {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    std::vector<T> all(found->second.size() / sizeof(T));
    std::memcpy(all.data(), found->second.data(), found->second.size());
    return all;
  }
  template <class T>
  T One(cudnnBackendAttributeName_t name, T otherwise = {}) const {
    const auto found = values.find(name);
    if (found != values.end()) std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
  const Node* Child(cudnnBackendAttributeName_t name) const { return One<const Node*>(name); }
};

}  // namespace firn::fake

#endif  // FIRN_TESTS_DEVICE_FAKE_CUDNN_NODE_H_
