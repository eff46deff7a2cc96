#ifndef FIRN_IO_CAPTURED_CAPTURED_CALL_H_
#define FIRN_IO_CAPTURED_CAPTURED_CALL_H_

// The call of an operation in a captured graph, as exporters read it: its inputs, results and
// attributes, and the reasons why it cannot be written.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/autograd/graph/graph.h"

namespace firn::io::internal {

// A size, in the captured run and in one with another batch.
struct CapturedSize {
  int64_t now = 0, other = 0;
  bool batch() const { return now != other; }
};
using CapturedSizes = std::vector<CapturedSize>;

// Thread-compatible.
class CapturedCall {
 public:
  // `other` is the graph as it were with another batch, or the graph itself. Both stay alive.
  CapturedCall(const Graph& graph, const Graph& other);
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;

  // Inputs and results of the call by their positions.
  size_t count() const { return instr_->in.size(); }
  bool has(size_t i) const { return i < count() && instr_->in[i] != kNoValue; }
  int rank(size_t i) const { return spec(i).shape.rank(); }
  DType dtype(size_t i) const { return spec(i).dtype; }
  CapturedSizes sizes(size_t i) const { return SizesOf(instr_->in[i]); }
  size_t out_count() const { return instr_->out.size(); }
  int out_rank(size_t i) const { return out_spec(i).shape.rank(); }
  DType out_dtype(size_t i) const { return out_spec(i).dtype; }
  CapturedSizes out_sizes(size_t i) const { return SizesOf(instr_->out[i]); }
  // Sizes as numbers; refuses a size that follows the batch.
  int64_t size(size_t i, int64_t dim);
  std::vector<int64_t> shape(size_t i) { return Fixed(sizes(i)); }
  std::vector<int64_t> out_shape(size_t i) { return Fixed(out_sizes(i)); }
  std::vector<int64_t> Fixed(const CapturedSizes& sizes);
  // Whether anything reads the result, or another value in its buffer.
  bool wants(size_t i) const { return wanted(instr_->out[i]); }
  const TensorSpec& spec(size_t i) const { return graph_.value(instr_->in[i]).spec; }
  const TensorSpec& out_spec(size_t i) const { return graph_.value(instr_->out[i]).spec; }

  // Attributes by their names.
  int64_t Int(const char* name) const { return Get<int64_t>(name); }
  double Real(const char* name) const;  // also of an integer
  bool Flag(const char* name) const { return Get<bool>(name); }
  const std::string& Word(const char* name) const { return Get<std::string>(name); }
  const std::vector<int64_t>& List(const char* name) const {
    return Get<std::vector<int64_t>>(name);
  }
  bool Has(const char* name) const { return attributes_.contains(name); }
  // A dimension of an input of this rank, from 0.
  int64_t Dim(const char* name, int rank) const;
  std::vector<int64_t> Dims(const char* name, int rank) const;  // none: all
  DType TypeOf(const char* name) const;
  // One number for each of `count` dimensions.
  std::vector<int64_t> Each(const char* name, size_t count) const;

  const CapturedSize& batch() const { return batch_; }

  // Notes why this call cannot be written. The first reason of a call counts.
  void Refuse(std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
  }
  void Warn(std::string what);

  // For the code that walks the graph.
  void Take(const Instr& instr);  // the call is this one
  const Instr& instr() const { return *instr_; }
  std::string& refused() { return refused_; }
  // "conv2d of net.conv1: why", once, if the call was refused.
  std::optional<std::string> TakeRefusal();
  std::vector<std::string>& warnings() { return warnings_; }
  CapturedSizes SizesOf(ValueId id) const;
  bool wanted(ValueId id) const { return wanted_[static_cast<size_t>(id)]; }
  void SetBatch(int64_t now, int64_t other) { batch_ = {now, other}; }

 protected:
  const Graph& captured() const { return graph_; }
  // Values of a buffer share elements. After `written` was written, the elements of `id` are those
  // at these places in the list of both values' elements, `id`'s own first. Empty: `id` is as it
  // was. Refuses a write that such a list cannot express.
  std::vector<int64_t> PlacesAfterWrite(ValueId id, ValueId written);
  // Whether both are the same elements.
  bool SameElements(ValueId a, ValueId b) const;
  const std::vector<ValueId>& InBufferOf(ValueId id) const {
    return in_buffer_[static_cast<size_t>(graph_.value(id).buffer)];
  }

 private:
  template <class T>
  const T& Get(const char* name) const {
    return std::get<T>(attributes_.at(name));
  }
  std::string NameOfCall() const;

  const Graph& graph_;
  const Graph& other_;
  const Instr* instr_ = nullptr;
  std::map<std::string, std::variant<int64_t, double, bool, std::string, std::vector<int64_t>>,
           std::less<>>
      attributes_;
  std::vector<std::vector<ValueId>> in_buffer_;
  std::vector<bool> wanted_;
  CapturedSize batch_;
  std::string refused_;
  std::vector<std::string> warnings_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_CALL_H_
