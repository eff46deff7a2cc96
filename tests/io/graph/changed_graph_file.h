// Graph files taken apart, changed and put together again, for tests of what loading refuses.
#ifndef FIRN_TESTS_IO_GRAPH_CHANGED_GRAPH_FILE_H_
#define FIRN_TESTS_IO_GRAPH_CHANGED_GRAPH_FILE_H_

#include <cstring>
#include <functional>
#include <string>

#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/internal/graph_archive.h"

namespace firn::io {

using internal::StoredGraph;
using GraphChange = std::function<void(StoredGraph&)>;

template <class T>
void Put(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// A file taken apart, to be changed and put together with sizes and checksums that are right.
struct Parts {
  std::string structure, elements;
  uint32_t version = 1;

  explicit Parts(const std::string& file);
  StoredGraph graph() const;
  std::string File() const;
};

// A view, a state that is written, a constant, indices. Its first input is f32 [2, 4], its result
// f32 [4, 2].
std::string SmallFile(const GraphInfo& info = {});

// Operations whose attributes are enums.
std::string FileWithWords();

// The error of loading the file; if loading gives a graph, it is run.
absl::Status Try(const std::string& file, const LoadGraphOptions& options = {});

// TryLoadGraph of a file that is never on a disk: tests of all bits write ten thousands.
absl::StatusOr<StaticGraph> LoadFromMemory(const std::string& file,
                                           const LoadGraphOptions& options = {});

// The file of a graph whose structure `change` has changed.
std::string Changed(const StaticGraph& graph, const GraphChange& change);

// The error of the small file after a change.
absl::Status AfterChange(const GraphChange& change);
std::string MessageAfter(const GraphChange& change);

// The first instruction that calls `op`; a failure of the test where there is none.
internal::StoredInstr& Find(StoredGraph& graph, const std::string& op);

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_GRAPH_CHANGED_GRAPH_FILE_H_
