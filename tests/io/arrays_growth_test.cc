// The time of a reader grows no faster than its file: each thing that a file may repeat is there n
// times and 4n times.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <zlib.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/hdf5/internal/h5_words.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/random_access.h"
#include "firn/io/wav/wav_status.h"
#include "firn/tensor/from.h"
#include "tests/growth.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using namespace std::string_literals;
using firn::testing::GrowthOf;
using firn::testing::kLinear;
using firn::testing::ThreadSeconds;

// `read` returns whether it succeeded. It is called so often that other work of the processor
// matters little.
void ExpectNoFasterThanTheFile(int n, const std::function<std::string(int n)>& make,
                               const std::function<bool(const std::string& bytes)>& read) {
  const std::string few = make(n), many = make(4 * n);
  ASSERT_TRUE(read(few) && read(many)) << n;
  int times = 1;
  const auto run = [&](int size) {
    for (int i = 0; i < times; ++i) read(size == n ? few : many);
  };
  for (double begin = ThreadSeconds(); times < 1000; times *= 2, begin = ThreadSeconds()) {
    run(n);
    if (ThreadSeconds() - begin > 2e-3) break;
  }
  EXPECT_LT(GrowthOf(run, n, kLinear), kLinear) << n;
}

class ArraysGrowthTest : public H5ReaderTest {
 protected:
  static std::unique_ptr<RandomAccess> Memory(const std::string& bytes) {
    return RandomAccess::FromMemory(
        "m", {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  }
  static bool ReadFileOfH5(const std::string& bytes) { return ReadH5(*Memory(bytes), {}).ok(); }

  // `fill` makes the n things in the file.
  static void ExpectH5(int n, const std::function<void(hid_t file, int n)>& fill) {
    for (const H5F_libver_t low : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
      const auto make = [&](int count) {
        return ReadFile(Make([&](hid_t f) { fill(f, count); }, low));
      };
      ExpectNoFasterThanTheFile(n, make, ReadFileOfH5);
    }
  }
};

// In continuation blocks, and in the newest files in a heap.
TEST_F(ArraysGrowthTest, Attributes) {
  ExpectH5(400, [](hid_t f, int n) {
    AddNumbers(f, "x", {1});
    const hid_t d = H5Dopen2(f, "x", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    for (int i = 0; i < n; ++i) {
      const hid_t a = H5Acreate2(d, ("attribute" + std::to_string(i)).c_str(), H5T_STD_I32LE, space,
                                 H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(a, H5T_NATIVE_INT, &i);
      H5Aclose(a);
    }
    H5Sclose(space);
    H5Dclose(d);
  });
}

TEST_F(ArraysGrowthTest, Links) {
  ExpectH5(1500, [](hid_t f, int n) {
    for (int i = 0; i < n; ++i) AddNumbers(f, ("member" + std::to_string(i)).c_str(), {1});
  });
}

TEST_F(ArraysGrowthTest, NamesOfOneDataset) {
  ExpectH5(1500, [](hid_t f, int n) {
    AddNumbers(f, "x", {1});
    for (int i = 0; i < n; ++i) {
      H5Lcreate_hard(f, "x", f, ("h" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  });
}

TEST_F(ArraysGrowthTest, SoftLinks) {
  ExpectH5(1500, [](hid_t f, int n) {
    for (int i = 0; i < n; ++i) {
      const std::string number = std::to_string(i);
      AddNumbers(f, ("x" + number).c_str(), {1});
      H5Lcreate_soft(("/x" + number).c_str(), f, ("s" + number).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  });
}

// Groups inside each other, as deep as links may lead, and groups beside each other.
TEST_F(ArraysGrowthTest, SoftLinksToSoftLinks) {
  ExpectH5(1500, [](hid_t f, int n) {
    AddNumbers(f, "x0", {1});
    for (int i = 0; i < n; ++i) {
      const std::string to = i % 12 == 0 ? "x0" : "s" + std::to_string(i - 1);
      H5Lcreate_soft(to.c_str(), f, ("s" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  });
}

TEST_F(ArraysGrowthTest, DatasetsOfACommittedType) {
  ExpectH5(1500, [](hid_t f, int n) {
    const hid_t type = H5Tcopy(H5T_STD_I32LE);
    H5Tcommit2(f, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int value = 3;
    for (int i = 0; i < n; ++i) {
      AddDataset(f, ("x" + std::to_string(i)).c_str(), type, {1}, H5T_NATIVE_INT, &value);
    }
    H5Tclose(type);
  });
}

TEST_F(ArraysGrowthTest, Chunks) {
  for (const bool extensible : {false, true}) {
    ExpectH5(1000, [&](hid_t f, int n) {
      AddNumbers(f, "x", {static_cast<hsize_t>(n)}, {.chunk = {1}, .extensible = extensible});
    });
  }
  ExpectH5(1000, [&](hid_t f, int n) {
    AddNumbers(f, "x", {2, static_cast<hsize_t>(n / 2)}, {.chunk = {1, 1}, .extensible = true});
  });
}

TEST_F(ArraysGrowthTest, Words) {
  const auto make = [](int n) {
    return ReadFile(Make([&](hid_t f) {
      const hid_t any = H5Tcopy(H5T_C_S1);
      H5Tset_size(any, H5T_VARIABLE);
      std::vector<std::string> words;
      for (int i = 0; i < n; ++i) words.push_back("word" + std::to_string(i));
      std::vector<const char*> data;
      for (const std::string& word : words) data.push_back(word.c_str());
      AddDataset(f, "w", any, {static_cast<hsize_t>(n)}, any, data.data());
      H5Tclose(any);
    }));
  };
  ExpectNoFasterThanTheFile(2000, make, [](const std::string& bytes) {
    return ReadH5Words(*Memory(bytes), "w", {}).ok();
  });
}

// --- ZIP and .npy
// ---------------------------------------------------------------------------------

std::string Le(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i, v >>= 8) s += static_cast<char>(v & 255);
  return s;
}

// Members with this many unknown extra fields each, and a comment behind them.
std::string Npz(int members, int fields, int comment) {
  const std::string data = *TryFormatNpy(FromValues({1.f}));
  const uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
  std::string front, directory, extra;
  for (int i = 0; i < fields; ++i) extra += Le(0x7777, 2) + Le(0, 2);
  for (int i = 0; i < members; ++i) {
    const std::string name = "x" + std::to_string(i) + ".npy";
    const std::string common = Le(20, 2) + Le(0, 4) + Le(0x00210000, 4) + Le(crc, 4) +
                               Le(data.size(), 4) + Le(data.size(), 4) + Le(name.size(), 2) +
                               Le(extra.size(), 2);
    directory +=
        Le(0x02014b50, 4) + Le(20, 2) + common + Le(0, 10) + Le(front.size(), 4) + name + extra;
    front += Le(0x04034b50, 4) + common + name + extra + data;
  }
  const auto count = static_cast<uint64_t>(members);
  return front + directory + Le(0x06054b50, 4) + Le(0, 4) + Le(count, 2) + Le(count, 2) +
         Le(directory.size(), 4) + Le(front.size(), 4) + Le(static_cast<uint64_t>(comment), 2) +
         std::string(static_cast<size_t>(comment), 'c');
}

bool ReadNpz(const std::string& bytes) { return TryParseNpz(bytes, "m").ok(); }

TEST_F(ArraysGrowthTest, MembersOfAZip) {
  ExpectNoFasterThanTheFile(
      30, [](int n) { return Npz(n, 0, 0); }, ReadNpz);
}

TEST_F(ArraysGrowthTest, ExtraFieldsOfAZip) {
  ExpectNoFasterThanTheFile(
      2000, [](int n) { return Npz(1, n, 0); }, ReadNpz);
}

TEST_F(ArraysGrowthTest, CommentOfAZip) {
  ExpectNoFasterThanTheFile(
      5000, [](int n) { return Npz(1, 0, n); }, ReadNpz);
}

TEST_F(ArraysGrowthTest, BlanksOfANpyHeader) {
  const auto make = [](int n) {
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), ";
    text += std::string(static_cast<size_t>(n), ' ') + "}\n";
    return "\x93NUMPY\1\0"s + Le(text.size(), 2) + text + "x";
  };
  ExpectNoFasterThanTheFile(2000, make,
                            [](const std::string& b) { return TryParseNpy(b, "m").ok(); });
}

TEST_F(ArraysGrowthTest, ElementsInFortransOrder) {
  const auto make = [](int n) {
    std::string text =
        "{'descr': '|u1', 'fortran_order': True, 'shape': (" + std::to_string(n) + ", 3), }\n";
    return "\x93NUMPY\1\0"s + Le(text.size(), 2) + text +
           std::string(static_cast<size_t>(3 * n), 'x');
  };
  ExpectNoFasterThanTheFile(500, make,
                            [](const std::string& b) { return TryParseNpy(b, "m").ok(); });
}

// --- Sound
// ----------------------------------------------------------------------------------------

TEST_F(ArraysGrowthTest, ChunksOfAWav) {
  const auto make = [](int n) {
    std::string chunks;
    for (int i = 0; i < n; ++i) chunks += "LIST" + Le(2, 4) + "ab";
    return "RIFF" + Le(0, 4) + "WAVE" + chunks + "fmt " + Le(16, 4) + Le(1, 2) + Le(1, 2) +
           Le(8000, 4) + Le(8000, 4) + Le(1, 2) + Le(8, 2) + "data" + Le(2, 4) + "ab";
  };
  ExpectNoFasterThanTheFile(3000, make,
                            [](const std::string& b) { return TryParseWav(b, "m").ok(); });
}

}  // namespace
}  // namespace firn::io::internal
