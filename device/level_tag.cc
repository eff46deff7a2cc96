// The variable that objects compiled for the library's own level refer to (internal/level_tag.h).

#include "firn/device/internal/level_tag.h"

const int firn::this_object_and_firn_must_be_compiled_for_one_level::FIRN_LEVEL_TAG = FIRN_LEVEL;
