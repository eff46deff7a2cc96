#ifndef FIRN_TESTS_FUZZ_SCRATCH_H_
#define FIRN_TESTS_FUZZ_SCRATCH_H_

// Paths for readers that need one. A path is valid until the next call, so use one input after the
// other.

#include <string>
#include <string_view>
#include <vector>

namespace firn::testing {

// A path of memory that stands for a file and holds the bytes.
std::string InMemory(std::string_view bytes);
// The same, with a path whose last component is `name`, in a folder without other files of
// interest.
std::string InMemory(std::string_view bytes, const std::string& name);

// A folder of its own in the file system, a new one for each `kind`.
std::string ScratchFolder(const std::string& kind);

// A folder as one file: the contents of the files of these names, each with an end mark behind it.
std::string JoinFolder(const std::string& folder, const std::vector<std::string>& names);
// Writes a result of JoinFolder, perhaps mutated, into a folder that holds these names and no
// others.
void SplitIntoFolder(std::string_view bytes, const std::vector<std::string>& names,
                     const std::string& folder);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_SCRATCH_H_
