#ifndef FIRN_TESTS_FUZZ_GRAPH_CHECKSUMS_H_
#define FIRN_TESTS_FUZZ_GRAPH_CHECKSUMS_H_

#include <string>
#include <string_view>

namespace firn::testing {

// Note [Graph files]: the structure and the whole file have checksums, which stop nearly every
// mutation, and so does the size of the structure. This function sets them to fit the bytes.
std::string WithRightChecksums(std::string_view bytes);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_GRAPH_CHECKSUMS_H_
