#ifndef FIRN_AUTOGRAD_GRAPH_ANALYSIS_H_
#define FIRN_AUTOGRAD_GRAPH_ANALYSIS_H_

// What passes and compilation ask of a graph.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/device/inner.h"

namespace firn {

// By buffer: whether an operation changes it in place.
std::vector<bool> ChangedInPlace(const Graph& graph);

// From the first operation that names a buffer to the last one. A result of the graph names its
// buffer once more, after all operations.
struct Lifespan {
  size_t first = SIZE_MAX, last = 0;
  bool named() const { return first != SIZE_MAX; }
};
// By buffer.
std::vector<Lifespan> LifespansOf(const Graph& graph);

// True for a view that lies in its argument's memory, and so computes nothing. (A view of a blocked
// tensor is a copy.)
bool IsAlias(const Graph& graph, const Instr& instr);

// False for operations that a run passes over: views, and operations whose results have no elements
// and that change nothing.
bool Computes(const Graph& graph, const Instr& instr);

// Who reads and writes what, as the graph was when this was made. Operations are known by their
// position in `instrs`.
class Uses {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  explicit Uses(const Graph& graph);

  // The operations that take `id` as an argument, ascending; one that takes it twice counts twice.
  absl::Span<const size_t> readers(ValueId id) const { return readers_[id]; }
  // True if `id` is a result of the graph, or a gradient that stays.
  bool leaves(ValueId id) const { return of(id).leaves; }
  // The only operation with `id` among its results; kNone if there is none, or more than one.
  size_t maker(ValueId id) const { return of(id).makers == 1 ? of(id).maker : kNone; }

  // The operations that write elements of the buffer, ascending.
  absl::Span<const size_t> writers(BufferId id) const { return writers_[id]; }
  // True if one of them changes it in place.
  bool changed(BufferId id) const { return of_buffer(id).changed; }
  // The last operation that reads elements of the buffer; kNone if a value in it leaves the graph,
  // 0 if no operation reads it.
  size_t last_reader(BufferId id) const { return of_buffer(id).last_reader; }
  // How often the buffer has been written before operation `at` runs.
  size_t VersionAt(BufferId id, size_t at) const;

 private:
  // A list of positions for each value or buffer, all of them in one array: a vector for each would
  // take most of the time and memory of this analysis.
  class Lists {
   public:
    using Entry = std::pair<int32_t, size_t>;  // of which list, position
    Lists() = default;
    Lists(size_t count, absl::Span<const Entry> entries);
    absl::Span<const size_t> operator[](int32_t list) const {
      const size_t *first = begins_.data() + list, *all = positions_.data();
      return {all + first[0], first[1] - first[0]};
    }

   private:
    std::vector<size_t> begins_, positions_;
  };
  struct OfValue {
    size_t maker = kNone, makers = 0;
    bool leaves = false;
  };
  struct OfBuffer {
    size_t last_reader = 0, last_writer = kNone;
    bool changed = false;
  };
  const OfValue& of(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const OfBuffer& of_buffer(BufferId id) const { return buffers_[static_cast<size_t>(id)]; }
  void AddReads(const Graph& graph, size_t at, std::vector<Lists::Entry>& reads);
  void AddWrites(const Graph& graph, size_t at, std::vector<Lists::Entry>& writes);
  void AddLeaving(const Graph& graph, ValueId id);

  std::vector<OfValue> values_;
  std::vector<OfBuffer> buffers_;
  Lists readers_, writers_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_ANALYSIS_H_
