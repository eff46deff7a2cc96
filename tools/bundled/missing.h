#ifndef FIRN_TOOLS_BUNDLED_MISSING_H_
#define FIRN_TOOLS_BUNDLED_MISSING_H_

// What stands in a bundled program for the functions of operations that its graph does not have:
// `link` writes one of a line for each, and only gradient rules of other operations name them.
namespace firn::bundled {

// Throws firn::Error: "conv2d(...) is not part of this program".
[[noreturn]] void Missing(const char* function);

}  // namespace firn::bundled

#endif  // FIRN_TOOLS_BUNDLED_MISSING_H_
