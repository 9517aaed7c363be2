#include "core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace grm {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using ::testing::HasSubstr;

// Examples of FIPS 180-4 (NIST, "Examples with Intermediate Values"), the empty message and the
// million times 'a' of NIST's test vectors.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileEqualsThatOfItsBytes) {
  const test::TempFolder folder;
  for (const size_t size : {0, 1, 55, 56, 63, 64, 65, 65535, 65536, 65537, 200000}) {
    std::string content(size, '\0');
    for (size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 31 + i / 256);
    EXPECT_EQ(sha256_file(folder.write("a", content)), sha256(content)) << size;
  }
}

// Found by attack: a link to /dev/zero in place of a model was read until memory ended.
TEST(ReadFile, ADeviceWithoutEndIsRefused) {
  for (const char* device : {"/dev/zero", "/dev/full"}) {
    EXPECT_THAT(error_of(ErrorKind::io, [&] { read_file(device); }),
                testing::HasSubstr(std::string(device) + ": is a device, a file is needed"));
  }
}

TEST(Sha256, OfAFolderOrNothingIsAnError) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { sha256_file(folder.file("none")); }),
              HasSubstr("none"));
  error_of(ErrorKind::io, [&] { sha256_file(folder.path()); });
}

TEST(Files, WhatIsWrittenIsRead) {
  const test::TempFolder folder;
  const std::string content("zero \0 and \xff", 12);
  const std::string path = folder.file("new/folders/a.bin");
  write_file_atomic(path, content);
  EXPECT_EQ(read_file(path), content);
  write_file_atomic(path, "");
  EXPECT_EQ(read_file(path), "");
}

TEST(Files, MissingFileAndFolderAreErrorsThatNameThem) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of(ErrorKind::io, [&] { read_file(folder.file("none")); }),
              HasSubstr("none: cannot be opened: No such file"));
  EXPECT_THAT(error_of(ErrorKind::io, [&] { read_file(folder.path()); }), HasSubstr("folder"));
}

size_t entries(const std::string& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Root may write anywhere, so it steps down for a while.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() : was_root_(geteuid() == 0) {
    if (was_root_ && seteuid(65534) != 0) throw std::runtime_error("seteuid");
  }
  ~AsOrdinaryUser() {
    if (was_root_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST(AtomicWrite, AnUnwritableFolderKeepsTheOldFile) {
  const test::TempFolder folder;
  chmod(folder.path().c_str(), 0755);
  const std::string path = folder.write("locked/a", "old");
  chmod(folder.file("locked").c_str(), 0555);
  {
    const AsOrdinaryUser user;
    EXPECT_THAT(error_of(ErrorKind::io, [&] { write_file_atomic(path, "new"); }),
                HasSubstr("Permission denied"));
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.file("locked")), 1u);
  chmod(folder.file("locked").c_str(), 0755);
}

TEST(AtomicWrite, ADiskThatRefusesKeepsTheOldFileAndLeavesNoRest) {
  const test::TempFolder folder;
  const std::string path = folder.write("a", "old");
  // A limit on file sizes fails in the middle of the write, as a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message =
      error_of(ErrorKind::io, [&] { write_file_atomic(path, std::string(100000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("writing failed"));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicWrite, ATargetThatCannotBeReplacedLeavesNoRest) {
  const test::TempFolder folder;
  folder.write("taken/inside", "x");
  error_of(ErrorKind::io, [&] { write_file_atomic(folder.file("taken"), "new"); });
  EXPECT_EQ(read_file(folder.file("taken/inside")), "x");
  EXPECT_EQ(entries(folder.path()), 1u);
  // A file where a folder is needed.
  folder.write("file", "x");
  error_of(ErrorKind::io, [&] { write_file_atomic(folder.file("file/a"), "new"); });
}

TEST(AtomicWrite, ReadersSeeOneWholeContentWhileTwoThreadsWrite) {
  const test::TempFolder folder;
  const std::string path = folder.write("a", std::string(50000, 'a'));
  const auto writer = [&](char letter) {
    for (int i = 0; i < 20; ++i) write_file_atomic(path, std::string(50000, letter));
  };
  std::thread first(writer, 'a'), second(writer, 'b');
  for (int i = 0; i < 200; ++i) {
    const std::string content = read_file(path);
    ASSERT_EQ(content.size(), 50000u);
    ASSERT_EQ(content.find_first_not_of(content[0]), std::string::npos);
  }
  first.join();
  second.join();
  EXPECT_EQ(entries(folder.path()), 1u);
}

// Sets a variable of the environment, or removes it, for one scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST(CacheFolder, FollowsGrmCacheThenXdgThenHome) {
  const Variable home("HOME", "/home/someone");
  {
    const Variable own("GRM_CACHE", "/own"), xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(cache_folder(), "/own");
  }
  const Variable own("GRM_CACHE", "");
  {
    const Variable xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(cache_folder(), "/xdg/grm");
  }
  const Variable xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(cache_folder(), "/home/someone/.cache/grm");
}

}  // namespace
}  // namespace grm
