// What touches the machine: processes, locks, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/system/lock.h"
#include "core/system/memory.h"
#include "core/system/process.h"
#include "support/temp_folder.h"

namespace grm {
namespace {

using testing::HasSubstr;

TEST(Processes, TroubleIsTheLastLineOfStandardError) {
  EXPECT_EQ(run_program({"/bin/sh", "-c", "exit 0"}, 60), "");
  EXPECT_EQ(run_program({"/bin/sh", "-c", "echo one >&2; echo two >&2; exit 3"}, 60), "two");
  EXPECT_EQ(run_program({"/bin/sh", "-c", "exit 3"}, 60), "exit code 3");
  EXPECT_THAT(run_program({"/bin/sh", "-c", "kill -9 $$"}, 60), HasSubstr("ended by signal 9"));
  EXPECT_EQ(run_program({"/nowhere/program"}, 60), "No such file or directory");
  EXPECT_EQ(run_program({"/bin/sleep", "60"}, 0.1), "it was stopped after 0.1 s");
}

TEST(Processes, RunInTheirFolder) {
  const test::TempFolder folder;
  EXPECT_EQ(run_program({"/bin/sh", "-c", "echo x > made"}, 60, folder.path()), "");
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/made"));
}

TEST(Processes, AnIdentityIsThatOfOneProcess) {
  EXPECT_TRUE(is_alive(own_identity()));
  EXPECT_FALSE(is_alive("another-boot/1/1"));
  EXPECT_FALSE(is_alive(""));
}

TEST(Locks, OneAtATime) {
  const test::TempFolder folder;
  const std::string file = folder.path() + "/lock";
  for (const std::string& path : {folder.path(), file}) {
    const bool make = path == file;
    {
      const FileLock lock(path, make);
      EXPECT_TRUE(lock.held());
      const FileLock second(path, make, 2);
      EXPECT_FALSE(second.held());
      EXPECT_TRUE(second.busy());
    }
    EXPECT_TRUE(FileLock(path, make).held());
  }
}

TEST(Locks, WhatIsNotThereIsNotMadeUnlessAskedFor) {
  const test::TempFolder folder;
  const FileLock lock(folder.path() + "/nothing", false);
  EXPECT_FALSE(lock.open());
  EXPECT_FALSE(lock.held());
  EXPECT_FALSE(lock.busy());
  EXPECT_EQ(lock.error(), ENOENT);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/nothing"));
}

TEST(Memory, IsWithinWhatTheMachineHas) {
  const SystemMemory memory = system_memory();
  EXPECT_GT(memory.free, 0);
  EXPECT_LE(memory.free, memory.total);
  EXPECT_GT(own_memory(), 1 << 20);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  EXPECT_LE(memory.total, pages * static_cast<double>(sysconf(_SC_PAGESIZE)) * 1.01);
}

}  // namespace
}  // namespace grm
