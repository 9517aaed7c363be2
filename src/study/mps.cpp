#include "study/mps.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/system/process.h"

namespace grm::study {
namespace {

constexpr double kSeconds = 10.0;  // for the control program to answer
const char* const kFolders[] = {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"};

// Through a shell, which looks for the program and feeds its standard input.
std::string control(const std::string& command) {
  return run_program({"/bin/sh", "-c", command}, kSeconds);
}

}  // namespace

SharedGpu::SharedGpu(bool wanted) {
  if (!wanted || std::getenv(kFolders[0]) || std::filesystem::exists("/tmp/nvidia-mps/control"))
    return;
  if (!control("command -v nvidia-cuda-mps-control > /dev/null").empty()) return;
  std::string path = std::filesystem::temp_directory_path().string() + "/grm-mps-XXXXXX";
  if (!mkdtemp(path.data())) return;
  for (const char* name : kFolders) setenv(name, path.c_str(), 1);
  folder_ = path;
  if (control("nvidia-cuda-mps-control -d").empty()) return;
  for (const char* name : kFolders) unsetenv(name);
  folder_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

SharedGpu::~SharedGpu() {
  if (folder_.empty()) return;
  control("echo quit | nvidia-cuda-mps-control");
  for (const char* name : kFolders) unsetenv(name);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace grm::study
