#include "study/mps.h"

#include <cstdlib>
#include <filesystem>

#include "core/system/process.h"

namespace grm::study {
namespace {

constexpr double kSeconds = 10.0;  // for the control program to answer
const char* const kFolders[] = {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"};

// Through a shell, which looks for the program and feeds its standard input; "" if all went well.
std::string control(const std::string& command) {
  return run_program({"/bin/sh", "-c", command}, kSeconds);
}

}  // namespace

SharedGpu::SharedGpu(bool wanted) {
  if (!wanted || std::getenv(kFolders[0])) return;
  if (std::filesystem::exists("/tmp/nvidia-mps/control")) return;
  if (!control("command -v nvidia-cuda-mps-control > /dev/null").empty()) return;
  folder_.emplace("grm-mps");
  for (const char* name : kFolders) setenv(name, folder_->path().c_str(), 1);
  if (!control("nvidia-cuda-mps-control -d").empty()) forget();
}

SharedGpu::~SharedGpu() {
  if (!started()) return;
  control("echo quit | nvidia-cuda-mps-control");
  forget();
}

void SharedGpu::forget() {
  for (const char* name : kFolders) unsetenv(name);
  folder_.reset();
}

}  // namespace grm::study
