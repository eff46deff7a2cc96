#include "firn/device/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tests/device/sync_count.h"

namespace firn::inner::internal {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "atomic_file_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int64_t CountFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static unsigned PermissionsOf(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, ReplacesAFileAndLeavesNothingElse) {
  ASSERT_TRUE(ReplaceFile(Path("a"), "old and longer").ok());
  ASSERT_TRUE(ReplaceFile(Path("a"), "new").ok());
  EXPECT_EQ(Read("a"), "new");
  EXPECT_EQ(CountFiles(), 1);
}

// The bytes and the name, or neither.
TEST_F(AtomicFileTest, WaitsForTheDiskUnlessToldOtherwise) {
  testing::SyncCount count;
  ASSERT_TRUE(ReplaceFile(Path("a"), "checkpoint").ok());
  EXPECT_EQ(count.Take(), 2);
  ASSERT_TRUE(ReplaceFile(Path("a"), "picture", WaitFor::kNothing).ok());
  EXPECT_EQ(count.Take(), 0);
  EXPECT_EQ(Read("a"), "picture");
  EXPECT_EQ(CountFiles(), 1);
}

// A folder that is not synced need not be opened.
TEST_F(AtomicFileTest, WithoutWaitingTheFolderNeedNotBeReadable) {
  ASSERT_EQ(chmod(folder_.c_str(), 0300), 0);
  const absl::Status status = ReplaceFile(Path("a"), "new", WaitFor::kNothing);
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Read("a"), "new");
}

TEST_F(AtomicFileTest, WithoutCommitNothingChanges) {
  ASSERT_TRUE(ReplaceFile(Path("a"), "old").ok());
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("new", 3).ok());
    EXPECT_EQ(CountFiles(), 2);
  }
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(AtomicFileTest, MayBeMoved) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  AtomicFile moved = *std::move(file);
  ASSERT_TRUE(moved.Write("te", 2).ok());
  ASSERT_TRUE(moved.Write("xt", 2).ok());
  ASSERT_TRUE(moved.Commit().ok());
  EXPECT_EQ(Read("a"), "text");
}

TEST_F(AtomicFileTest, MayBeWrittenInAnyOrder) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->WriteAt(4, "end", 3).ok());
  ASSERT_TRUE(file->WriteAt(0, "new", 3).ok());
  ASSERT_TRUE(file->Resize(9).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Read("a"), std::string("new\0end\0\0", 9));
}

TEST_F(AtomicFileTest, AnotherProgramMayWriteTheTemporaryFile) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(fs::path(file->temporary_path()).parent_path(), fs::canonical(folder_));
  std::ofstream(file->temporary_path()) << "picture";
  EXPECT_FALSE(fs::exists(Path("a")));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Read("a"), "picture");
  EXPECT_EQ(CountFiles(), 1);
}

// A limit on file sizes stands for a full disk: both make write() fail half way.
TEST_F(AtomicFileTest, AFullDiskKeepsTheOldFile) {
  ASSERT_TRUE(ReplaceFile(Path("a"), "old").ok());
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const absl::Status status = ReplaceFile(Path("a"), std::string(5000, 'x'));
  absl::Status elsewhere;
  if (absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a")); file.ok()) {
    elsewhere = file->WriteAt(4090, "1234567", 7);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(elsewhere.code(), absl::StatusCode::kResourceExhausted) << elsewhere;
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(AtomicFileTest, AFolderThatCannotBeOpenedKeepsTheOldFile) {
  ASSERT_TRUE(ReplaceFile(Path("a"), "old").ok());
  ASSERT_EQ(chmod(folder_.c_str(), 0300), 0);
  const bool readable = access(folder_.c_str(), R_OK) == 0;
  const absl::Status status = ReplaceFile(Path("a"), "new");
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  if (readable) GTEST_SKIP() << "permissions do not bind this user";
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(AtomicFileTest, ReplacesTheTargetOfALink) {
  ASSERT_TRUE(ReplaceFile(Path("real"), "old").ok());
  ASSERT_EQ(symlink("real", Path("link").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(Path("link"), "new").ok());
  EXPECT_EQ(Read("real"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(CountFiles(), 2);
}

TEST_F(AtomicFileTest, KeepsPermissionsAndMayBeWrittenUntilThen) {
  ASSERT_TRUE(ReplaceFile(Path("a"), "old").ok());
  ASSERT_EQ(chmod(Path("a").c_str(), 0440), 0);
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(PermissionsOf(file->temporary_path()), 0640u);
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(PermissionsOf(Path("a")), 0440u);
}

TEST_F(AtomicFileTest, NamesThePathThatCannotBeWritten) {
  const absl::Status status = ReplaceFile(Path("none/a"), "text");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("none/a"), absl::string_view::npos) << status;
  EXPECT_EQ(ReplaceFile("", "text").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(AtomicFileTest, ARefusalClosesNothing) {
  const int nothing = open("/dev/null", O_RDONLY);
  ASSERT_GE(dup2(nothing, STDIN_FILENO), 0);
  EXPECT_FALSE(AtomicFile::Create("").ok());
  EXPECT_FALSE(AtomicFile::Create(folder_).ok());
  EXPECT_FALSE(AtomicFile::Create(Path("none/a")).ok());
  EXPECT_NE(fcntl(STDIN_FILENO, F_GETFD), -1) << "standard input was closed";
  if (nothing != STDIN_FILENO) close(nothing);
}

TEST_F(AtomicFileTest, ReplacesNeitherFoldersNorPipes) {
  fs::create_directories(folder_ / "taken" / "by");
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  for (const std::string name : {"taken", "pipe"}) {
    const absl::Status status = ReplaceFile(Path(name), "text");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_NE(status.message().find(name), absl::string_view::npos) << status;
  }
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  EXPECT_EQ(CountFiles(), 2);
}

// Runs `write` in a process of its own, which then holds still until it is killed.
class Writer {
 public:
  template <class F>
  explicit Writer(F write) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    process_ = fork();
    if (process_ == 0) {
      const auto file = write();
      const char done = file.ok() ? 1 : 0;
      if (::write(ready[1], &done, 1) == 1) pause();
      _exit(0);
    }
    close(ready[1]);
    char done = 0;
    EXPECT_EQ(read(ready[0], &done, 1), 1);
    EXPECT_EQ(done, 1);
    close(ready[0]);
  }
  ~Writer() { Kill(); }
  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, -1), nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

TEST_F(AtomicFileTest, RemovesWhatKilledWritersLeft) {
  const auto half = [&] {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
    if (file.ok()) file->Write("half of", 7).IgnoreError();
    return file;
  };
  Writer first(half), second(half), beside([&] { return AtomicFile::Create(Path("a.b")); });
  ASSERT_EQ(CountFiles(), 3);
  // Living ones are left alone.
  ASSERT_TRUE(ReplaceFile(Path("a"), "text").ok());
  EXPECT_EQ(CountFiles(), 4);
  first.Kill();
  beside.Kill();
  ASSERT_TRUE(ReplaceFile(Path("a"), "text").ok());
  EXPECT_EQ(CountFiles(), 3);
  second.Kill();
  ASSERT_TRUE(ReplaceFile(Path("a"), "text").ok());
  EXPECT_EQ(CountFiles(), 2);
  EXPECT_EQ(Read("a"), "text");
  ASSERT_TRUE(ReplaceFile(Path("a.b"), "other").ok());
  EXPECT_EQ(CountFiles(), 2);
  EXPECT_EQ(Read("a.b"), "other");
}

// Another machine's writer may be alive though its lock does not show here.
TEST_F(AtomicFileTest, RemovesFilesOfOtherMachinesAfterADay) {
  const std::string young = Path("a.tmp.0123456789ab.1.0"), old = Path("a.tmp.0123456789ab.1.1");
  for (const std::string& path : {young, old}) std::ofstream(path) << "half of";
  const timespec two_days_ago[2] = {{time(nullptr) - 2 * 86400, 0}, {time(nullptr) - 2 * 86400, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, old.c_str(), two_days_ago, 0), 0);
  ASSERT_TRUE(ReplaceFile(Path("a"), "text").ok());
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(AtomicFileTest, LeavesFilesThatItsWritersDoNotMake) {
  const timespec long_ago[2] = {{0, 0}, {0, 0}};
  const std::string names[] = {"a.tmp",
                               "a.tmp.1.2",
                               "a.tmp.1.2.3",
                               "a.tmp.0.11.23",
                               "a.tmp.2026.11.23",
                               "a.tmp.0123456789a.1.2",
                               "a.tmp.0123456789abc.1.2",
                               "a.tmp.0123456789my.1.2",
                               "a.tmp.0123456789ab.1",
                               "a.tmp.0123456789ab.1.2.3",
                               "b.tmp.0123456789ab.1.2"};
  for (const std::string& name : names) {
    std::ofstream(Path(name)) << "mine";
    ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), long_ago, 0), 0);
  }
  fs::create_directories(folder_ / "a.tmp.0123456789ab.1.2");
  ASSERT_EQ(symlink(names[0].c_str(), Path("a.tmp.0123456789ab.4.5").c_str()), 0);
  ASSERT_TRUE(ReplaceFile(Path("a"), "text").ok());
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(Path(name))) << name;
  EXPECT_TRUE(fs::is_directory(folder_ / "a.tmp.0123456789ab.1.2"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "a.tmp.0123456789ab.4.5"));
}

// 0 or the errno of locking the file by a descriptor of its own.
int LockError(const std::string& path, int kind) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_GE(fd, 0) << path;
  const int error = flock(fd, kind | LOCK_NB) == 0 ? 0 : errno;
  close(fd);
  return error;
}

TEST_F(AtomicFileTest, ReadersMayLockWhatAWriterHolds) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(LockError(file->temporary_path(), LOCK_SH), 0);
  EXPECT_EQ(LockError(file->temporary_path(), LOCK_EX), EWOULDBLOCK);
}

TEST_F(AtomicFileTest, NobodyLocksTheFileOnceItIsInItsPlace) {
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  Writer forked([] { return absl::OkStatus(); });  // has the file open too
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(LockError(Path("a"), LOCK_SH), 0);
  EXPECT_EQ(LockError(Path("a"), LOCK_EX), 0);
}

TEST_F(AtomicFileTest, SaysWhenAllNamesAreTaken) {
  std::string name;
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    name = file->temporary_path();
  }
  const size_t number = name.rfind('.') + 1;
  const int last = std::stoi(name.substr(number));
  for (int i = 1; i <= 100; ++i) {
    fs::create_directory(name.substr(0, number) + std::to_string(last + i));
  }
  const absl::Status status = AtomicFile::Create(Path("a")).status();
  EXPECT_EQ(status.code(), absl::ErrnoToStatusCode(EBUSY)) << status;
  EXPECT_EQ(CountFiles(), 100);
}

TEST_F(AtomicFileTest, RemovesWhatKilledWritersOfOtherPathsLeft) {
  const timespec long_ago[2] = {{0, 0}, {0, 0}};
  for (const char* name : {"run_1.tmp.0123456789ab.1.0", "run_2.tmp.0123456789ab.1.0",
                           "other.tmp.0123456789ab.1.0", "run_3"}) {
    std::ofstream(Path(name)) << "half of";
    ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), long_ago, 0), 0);
  }
  absl::StatusOr<AtomicFile> alive = AtomicFile::Create(Path("run_4"));
  ASSERT_TRUE(alive.ok());
  RemoveLeftovers(folder_.string(), [](std::string_view name) { return name.starts_with("run_"); });
  EXPECT_FALSE(fs::exists(Path("run_1.tmp.0123456789ab.1.0")));
  EXPECT_FALSE(fs::exists(Path("run_2.tmp.0123456789ab.1.0")));
  EXPECT_TRUE(fs::exists(Path("other.tmp.0123456789ab.1.0")));
  EXPECT_TRUE(fs::exists(Path("run_3")));
  EXPECT_TRUE(fs::exists(alive->temporary_path()));
  RemoveLeftovers(Path("no such folder"), [](std::string_view) { return true; });
}

}  // namespace
}  // namespace firn::inner::internal
