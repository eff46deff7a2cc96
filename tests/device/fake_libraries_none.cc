// In builds without CUDA no kernel asks for a library.
#include "tests/device/fake_libraries.h"

namespace firn {

FakeLibraries::FakeLibraries(FakeCuda*) {}
FakeLibraries::~FakeLibraries() = default;

}  // namespace firn
