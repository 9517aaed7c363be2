// grm: prints help by itself and leaves all work to grm-engine. This program links none of the
// libraries that take most of a second to load, and it can set what they read when they are loaded.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/launcher/help.h"
#include "core/start.h"

namespace {

constexpr int kData = 3, kDevice = 4;

// Where this program lies, with the last '/'.
std::string own_folder() {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, length > 0 ? static_cast<size_t>(length) : 0);
  return path.substr(0, path.rfind('/') + 1);
}

// Beside this program, as it is built, or where it is installed.
std::string find_engine() {
  const std::string folder = own_folder();
  const std::string beside = folder + "grm-engine";
  return access(beside.c_str(), X_OK) == 0 ? beside : folder + GRM_ENGINE_FROM_BIN;
}

int print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0) return 0;
  std::fprintf(stderr, "grm: standard output: writing failed: %s\n", std::strerror(errno));
  return kData;
}

int refuse(const std::string& reason, const std::vector<std::string>& words) {
  std::fprintf(stderr, "grm: %s\n", reason.c_str());
  for (const std::string& word : words) {
    if (word != "--json") continue;
    std::printf("{\n  \"error\": {\n    \"kind\": \"memory\",\n    \"message\": \"%s\"\n  }\n}\n",
                reason.c_str());
  }
  return kDevice;
}

}  // namespace

int main(int argc, char** argv) {
  grm::open_standard_descriptors();
  const std::string engine = find_engine();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string name, text;
  if (grm::launcher::asks_for_text(words, name) &&
      grm::launcher::find_text(engine + ".help", name, text)) {
    return print(text);
  }
  const std::string reason = grm::limits_too_small();
  if (!reason.empty()) return refuse(reason, words);
  grm::set_load_environment();
  execv(engine.c_str(), argv);
  std::fprintf(stderr, "grm: %s cannot be started: %s; build or install grm again\n",
               engine.c_str(), std::strerror(errno));
  return kData;
}
