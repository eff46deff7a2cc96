#ifndef FIRN_DEVICE_INTERNAL_LEVEL_TAG_H_
#define FIRN_DEVICE_INTERNAL_LEVEL_TAG_H_

#include "firn/device/level.h"

// Objects of two levels must not meet in one program: sizes of vectors and blocks of layouts follow
// from the level, and of two versions of a function the linker keeps either. So each object whose
// code depends on the level names a variable that the library has for its own level alone, and the
// linker says what is wrong:
//   undefined reference to `firn::this_object_and_firn_must_be_compiled_for_one_level::x86_64_v3'
namespace firn::this_object_and_firn_must_be_compiled_for_one_level {

#if FIRN_LEVEL == 4
#define FIRN_LEVEL_TAG x86_64_v4
#elif FIRN_LEVEL == 3
#define FIRN_LEVEL_TAG x86_64_v3
#elif FIRN_LEVEL == 2
#define FIRN_LEVEL_TAG x86_64_v2
#elif FIRN_LEVEL == 1
#define FIRN_LEVEL_TAG x86_64
#else
#define FIRN_LEVEL_TAG compilers_default
#endif
extern const int FIRN_LEVEL_TAG;

}  // namespace firn::this_object_and_firn_must_be_compiled_for_one_level

#endif  // FIRN_DEVICE_INTERNAL_LEVEL_TAG_H_
