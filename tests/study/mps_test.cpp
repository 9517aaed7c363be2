// NVIDIA's MPS around a study, with a control program of the test's own that writes down what it is asked.
#include "study/mps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/files.h"
#include "support/temp_folder.h"

namespace grm::mps_tests {
namespace {

class Mps : public testing::Test {
 protected:
  Mps() {
    const char* path = std::getenv("PATH");
    before_ = path ? path : "";
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  }
  ~Mps() override { setenv("PATH", before_.c_str(), 1); }

  // `code`: what it answers to -d.
  void install(int code) {
    const std::string program =
        folder_.write("nvidia-cuda-mps-control",
                      "#!/bin/sh\n"
                      "if [ \"$1\" = -d ]; then echo \"start $CUDA_MPS_PIPE_DIRECTORY\" >> " +
                          folder_.file("log") + "; exit " + std::to_string(code) +
                          "; fi\nread word; echo \"$word $CUDA_MPS_PIPE_DIRECTORY\" >> " +
                          folder_.file("log") + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("PATH", (folder_.path() + ":" + before_).c_str(), 1);
  }
  std::string log() const {
    return std::filesystem::exists(folder_.file("log")) ? read_file(folder_.file("log")) : "";
  }

  test::TempFolder folder_;
  std::string before_;
};

TEST_F(Mps, RunsWhileItIsNeededInAFolderOfItsOwn) {
  install(0);
  std::string pipe;
  {
    const study::SharedGpu shared(true);
    ASSERT_TRUE(shared.started());
    pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    EXPECT_TRUE(std::filesystem::is_directory(pipe));
    EXPECT_EQ(log(), "start " + pipe + "\n");
  }
  EXPECT_EQ(log(), "start " + pipe + "\nquit " + pipe + "\n");
  EXPECT_EQ(std::getenv("CUDA_MPS_PIPE_DIRECTORY"), nullptr);
  EXPECT_FALSE(std::filesystem::exists(pipe));
}

TEST_F(Mps, AControlProgramThatFailsIsLeftAlone) {
  install(1);
  { EXPECT_FALSE(study::SharedGpu(true).started()); }
  EXPECT_EQ(std::getenv("CUDA_MPS_PIPE_DIRECTORY"), nullptr);
  EXPECT_EQ(log().find("quit"), std::string::npos);
}

TEST_F(Mps, NothingIsStartedWithoutNeedOrBesideAnother) {
  install(0);
  EXPECT_FALSE(study::SharedGpu(false).started());
  setenv("CUDA_MPS_PIPE_DIRECTORY", "/somewhere", 1);
  EXPECT_FALSE(study::SharedGpu(true).started());
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  EXPECT_EQ(log(), "");
}

}  // namespace
}  // namespace grm::mps_tests
