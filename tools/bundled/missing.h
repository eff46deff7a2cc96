#ifndef FIRN_TOOLS_BUNDLED_MISSING_H_
#define FIRN_TOOLS_BUNDLED_MISSING_H_

// Replaces functions of operations that the graph of a bundled program does not have: `link` writes
// a line for each, and only gradient rules of other operations name them.
namespace firn::bundled {

// Throws firn::Error: "conv2d(...) is not part of this program".
[[noreturn]] void Missing(const char* function);

}  // namespace firn::bundled

#endif  // FIRN_TOOLS_BUNDLED_MISSING_H_
