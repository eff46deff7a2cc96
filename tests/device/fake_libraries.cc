#include "tests/device/fake_libraries.h"

#include "tests/device/fake_library_work.h"

namespace firn {
namespace {

FakeCuda* the_cuda = nullptr;

void Use(bool use) {
  fake::UseCufft(use);
  fake::UseCusolver(use);
  fake::UseCudnnRnn(use);
  fake::UseCudnnGraph(use);
}

}  // namespace

FakeCuda& fake::TheCuda() { return *the_cuda; }

FakeLibraries::FakeLibraries(FakeCuda* cuda) {
  the_cuda = cuda;
  Use(cuda != nullptr);
}

FakeLibraries::~FakeLibraries() { Use(false); }

}  // namespace firn
