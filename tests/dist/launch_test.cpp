#include "dist/launch.h"

#include <gtest/gtest.h>

#include <map>

#include "grm/core/error.h"

namespace grm::dist_launch_tests {

using dist::first_machine;
using dist::Launch;
using Variables = std::map<std::string, std::string>;

Launch launch(const Variables& variables) {
  return dist::launch_of([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string complaint(const Variables& variables) {
  try {
    launch(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "";
}

TEST(Launch, WithoutALauncherIsAWorldOfOne) {
  EXPECT_EQ(launch({}).world, 1);
  // A batch script of Slurm runs the program itself, on the first machine of many.
  EXPECT_EQ(launch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).world, 1);
  EXPECT_EQ(launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).world, 1);
}

TEST(Launch, ReadsTorchrun) {
  const Launch l = launch({{"RANK", "3"},
                           {"WORLD_SIZE", "8"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"MASTER_ADDR", "n1"},
                           {"MASTER_PORT", "29400"},
                           {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                           {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(l.rank, 3);
  EXPECT_EQ(l.world, 8);
  EXPECT_EQ(l.on_this_machine, 4);
  EXPECT_EQ(l.address, "n1");
  EXPECT_EQ(l.port, 29400);
  EXPECT_TRUE(l.store_is_there);
  EXPECT_EQ(l.name, "2");
}

TEST(Launch, ReadsOpenMpi) {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "1234"}};
  const Launch l = launch(variables);
  EXPECT_EQ(l.rank, 1);
  EXPECT_EQ(l.address, "127.0.0.1");
  EXPECT_GT(l.port, 1024);
  variables["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(launch(variables).port, l.port);  // all of a job agree
  EXPECT_FALSE(l.store_is_there);
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";  // on two machines nobody knows the first one
  EXPECT_NE(complaint(variables).find("MASTER_ADDR"), std::string::npos);
  variables["MASTER_ADDR"] = "n7";
  EXPECT_EQ(launch(variables).address, "n7");
}

TEST(Launch, ReadsSrun) {
  const Launch l = launch({{"SLURM_PROCID", "2"},
                           {"SLURM_STEP_NUM_TASKS", "6"},
                           {"SLURM_STEP_NUM_NODES", "3"},
                           {"SLURM_STEP_NODELIST", "n[04-06]"},
                           {"SLURM_JOB_ID", "17"},
                           {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(l.rank, 2);
  EXPECT_EQ(l.world, 6);
  EXPECT_EQ(l.on_this_machine, 2);
  EXPECT_EQ(l.address, "n04");
}

TEST(Launch, FirstMachineOfAList) {
  EXPECT_EQ(first_machine("n1"), "n1");
  EXPECT_EQ(first_machine("n1,n2"), "n1");
  EXPECT_EQ(first_machine("n[1-3,7],m2"), "n1");
  EXPECT_EQ(first_machine("a,n[1-3]"), "a");
  EXPECT_EQ(first_machine("n[007]"), "n007");
}

TEST(Launch, RefusesWhatMakesNoSense) {
  EXPECT_NE(complaint({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).find("RANK='x'"), std::string::npos);
  EXPECT_NE(complaint({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(complaint({{"RANK", "0"}, {"WORLD_SIZE", "2"}}).find("MASTER_ADDR"), std::string::npos);
  EXPECT_NE(
      complaint({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}).find("MASTER_PORT"),
      std::string::npos);
}

}  // namespace grm::dist_launch_tests
