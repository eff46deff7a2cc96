#ifndef FIRN_TOOLS_FIRN_VERSION_H_
#define FIRN_TOOLS_FIRN_VERSION_H_

namespace firn::cli {

inline constexpr char kVersion[] = "0.1.0";
#ifdef NDEBUG
inline constexpr bool kAssertions = false;
#else
inline constexpr bool kAssertions = true;
#endif

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_VERSION_H_
