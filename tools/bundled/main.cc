// The program of `tools/bundle --graph`: one file that holds a graph and the code that runs it.
//
//   NAME                            prints the inputs and results of the graph
//   NAME INPUT...                   runs it and prints the results. INPUT: a .npy file, or a number
//                                   that every element is
//   NAME --output=PREFIX INPUT...   writes the results to PREFIX.0.npy, PREFIX.1.npy, ...
//   NAME --graph=FILE ...           takes the graph of that file, such as one that was trained on.
//                                   The program has the operations of its own graph alone
//
// Its purpose is to be small: it has no streams, which would bring the locales, and no operations
// but those of the graph, so it makes and fills tensors by hand.

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/npy/npy.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/random_access.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/tensor.h"

// The graph file that `link` put into the program.
extern "C" const unsigned char firn_bundled_graph[], firn_bundled_graph_end[];

namespace firn::bundled {
namespace {

using namespace inner;  // NOLINT: a program

struct Arguments {
  std::string graph, output;
  std::vector<std::string> inputs;
  bool try_zeros = false;  // for `link`: runs on zeros and prints nothing
};

absl::StatusOr<Arguments> Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--graph=")) {
      arguments.graph = word.substr(word.find('=') + 1);
    } else if (word.starts_with("--output=")) {
      arguments.output = word.substr(word.find('=') + 1);
    } else if (word == "--try-zeros") {
      arguments.try_zeros = true;
    } else if (word.starts_with("--")) {
      return InvalidArgument("there is no option ", std::string(word),
                             "; there are --graph=FILE and --output=PREFIX");
    } else {
      arguments.inputs.emplace_back(word);
    }
  }
  return arguments;
}

absl::StatusOr<StaticGraph> ReadGraph(const std::string& path) {
  std::unique_ptr<io::RandomAccess> file;
  if (path.empty()) {
    file = io::RandomAccess::FromMemory(
        "the graph in this program",
        absl::MakeConstSpan(firn_bundled_graph, firn_bundled_graph_end));
  } else {
    FIRN_ASSIGN_OR_RETURN(file, io::RandomAccess::Open(path));
  }
  FIRN_ASSIGN_OR_RETURN(io::GraphFile contents, io::TryReadGraph(*file));
  return StaticGraph::Compile(std::move(contents.graph));
}

std::string Describe(const StaticGraph& graph) {
  std::string text;
  const auto list = [&](const char* what, const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      absl::StrAppend(&text, what, " ", i, ": ", graph.captured().value(ids[i]).spec.ToString(),
                      "\n");
    }
  };
  list("input", graph.captured().inputs);
  list("result", graph.captured().outputs);
  return text;
}

// Whether a number of this type is `number`, to its precision.
template <class T>
bool Holds(double number) {
  if constexpr (std::is_same_v<T, bool>) return number == 0 || number == 1;
  if constexpr (!std::is_integral_v<T>) return true;
  constexpr double kMost = 1 << 30;  // no larger number is worth typing
  return std::abs(number) <= kMost &&
         number >= static_cast<double>(std::numeric_limits<T>::min()) &&
         number <= static_cast<double>(std::numeric_limits<T>::max()) &&
         number == std::trunc(number);
}

absl::StatusOr<Tensor> Filled(const TensorSpec& spec, double number) {
  FIRN_ASSIGN_OR_RETURN(Tensor t, AllocateTensor(spec));
  const bool fits = VisitDType(spec.dtype, [&]<class T>(TypeTag<T>) {
    if (!Holds<T>(number)) return false;
    T* const data = reinterpret_cast<T*>(t.impl()->data);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        data[i] = static_cast<T>(number);
      } else {  // a half type
        data[i] = T(static_cast<float>(number));
      }
    }
    return true;
  });
  FIRN_RETURN_IF(!fits, InvalidArgument(number, ": the input is ", spec.ToString()));
  return t;
}

// A number, or what is in a .npy file.
absl::StatusOr<Tensor> InputFrom(const std::string& text, const TensorSpec& spec) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0') return Filled(spec, number);
  Tensor t = io::ReadNpy(text);
  FIRN_RETURN_IF(
      t.shape() != spec.shape || t.dtype() != spec.dtype,
      InvalidArgument(text, ": expected ", spec.ToString(), ", got ", t.spec().ToString()));
  return t;
}

absl::StatusOr<TensorList> Run(StaticGraph& graph, const Arguments& arguments) {
  const std::vector<ValueId>& wanted = graph.captured().inputs;
  FIRN_RETURN_IF(!arguments.try_zeros && arguments.inputs.size() != wanted.size(),
                 InvalidArgument("expected ", wanted.size(), " inputs, got ",
                                 arguments.inputs.size(), ":\n", Describe(graph)));
  TensorList inputs;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const TensorSpec& spec = graph.captured().value(wanted[i]).spec;
    FIRN_ASSIGN_OR_RETURN(
        Tensor t, arguments.try_zeros ? Filled(spec, 0) : InputFrom(arguments.inputs[i], spec));
    inputs.push_back(std::move(t));
  }
  TensorList results(graph.captured().outputs.size());
  FIRN_RETURN_IF_ERROR(graph.Run(inputs, absl::MakeSpan(results)));
  return results;
}

// Prints as many digits as distinguish the numbers of the type.
void Print(const Tensor& t) {
  std::printf("%s\n", t.spec().ToString().c_str());
  if (IsIntegral(t.dtype()) || t.dtype() == DType::kBool) {
    for (const int64_t v : t.ToVector<int64_t>()) std::printf("%lld\n", static_cast<long long>(v));
  } else {
    const int digits = t.dtype() == DType::kF64 ? 17 : 9;
    for (const double v : t.ToVector<double>()) std::printf("%.*g\n", digits, v);
  }
}

absl::Status Write(const Tensor& t, const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, io::TryFormatNpy(t));
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  FIRN_RETURN_IF(!written || !closed,
                 Unavailable("cannot write ", path, ": ", std::string(std::strerror(errno))));
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  FIRN_ASSIGN_OR_RETURN(const Arguments arguments, Parse(argc, argv));
  FIRN_ASSIGN_OR_RETURN(StaticGraph graph, ReadGraph(arguments.graph));
  const bool asks = arguments.inputs.empty() && !graph.captured().inputs.empty();
  if (asks && !arguments.try_zeros) {
    const bool told = std::fputs(Describe(graph).c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    FIRN_RETURN_IF(!told, Unavailable("cannot print: ", std::string(std::strerror(errno))));
    return absl::OkStatus();
  }
  FIRN_ASSIGN_OR_RETURN(const TensorList results, Run(graph, arguments));
  for (size_t i = 0; i < results.size(); ++i) {
    if (arguments.try_zeros) {
      FIRN_RETURN_IF_ERROR(io::TryFormatNpy(results[i]).status());
    } else if (arguments.output.empty()) {
      Print(results[i]);
    } else {
      FIRN_RETURN_IF_ERROR(Write(results[i], absl::StrCat(arguments.output, ".", i, ".npy")));
    }
  }
  const bool written = std::fflush(stdout) == 0;
  FIRN_RETURN_IF(!written, Unavailable("cannot print: ", std::string(std::strerror(errno))));
  return absl::OkStatus();
}

}  // namespace
}  // namespace firn::bundled

int main(int argc, char** argv) {
  std::string message;
  try {
    const absl::Status status = firn::bundled::Main(argc, argv);
    if (status.ok()) return 0;
    message = std::string(status.message());
  } catch (const std::exception& e) {
    message = e.what();
  }
  const char* const slash = std::strrchr(argv[0], '/');
  std::fprintf(stderr, "%s: %s\n", slash == nullptr ? argv[0] : slash + 1, message.c_str());
  return 1;
}
