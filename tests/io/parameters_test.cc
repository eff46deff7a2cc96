// The one-line functions: formats by name, and errors as exceptions.
#include "io/parameters.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/error.h"
#include "tensor/from.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

TEST(ParametersTest, SavesAndLoadsByTheEndOfTheName) {
  for (const char* name : {"net.h5", "net.v2.hdf5"}) {
    const std::string path = TempPath(name);
    Save(path, {{"w", FromValues({1.f, 2.f})}});
    EXPECT_TRUE(Load(path)["w"].Equals(FromValues({1.f, 2.f})));
  }
}

TEST(ParametersTest, ThrowsErrorsThatNameTheFile) {
  const auto error = [](const std::string& path) { return testing::ErrorOf([&] { Load(path); }); };
  EXPECT_THAT(error("net.pkl"), HasSubstr("'net.pkl' ends in '.pkl' (want .h5 or .hdf5)"));
  EXPECT_THAT(error("/nowhere/net.h5"), HasSubstr("load: cannot open /nowhere/net.h5"));
  EXPECT_THROW(Save("/nowhere/net.h5", {}), Error);
  EXPECT_THROW(Save("net", {}), Error);
}

}  // namespace
}  // namespace firn::io
