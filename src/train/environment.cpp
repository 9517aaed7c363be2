// What a run was made with: env.json, its legs, and the BLAS library.
#include "train/environment.h"

#include <torch/types.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>

#include "core/blas.h"
#include "core/clock.h"
#include "core/cpu_variant.h"
#include "core/json.h"
#include "core/json_number.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/graph/device.h"
#include "grm/version.h"
#include "train/run_folder.h"

namespace grm {
namespace {

using nlohmann::ordered_json;

// What the bits of a model depend on besides its configuration and data, as legs name it.
constexpr const char* kArithmetic[] = {"threads", "blas",  "blas_core", "kernels", "cpu_capability",
                                       "device",  "torch", "grm",       "git"};

// "AVX2" or "AVX512": the instructions that torch's own kernels use. Not all versions have a
// function for it, their description names it.
std::string cpu_capability() {
  const std::string config = at::show_config(), label = "CPU capability usage: ";
  const size_t at = config.find(label);
  if (at == std::string::npos) return "";
  const size_t begin = at + label.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

// The CPU's name says no more than the core and the capability; the host's name does not matter.
ordered_json leg_json(int64_t from_epoch) {
  return {{"from_epoch", from_epoch},
          {"started", timestamp()},
          {"threads", threads()},
          {"blas", blas_name()},
          {"blas_core", blas_core()},
          {"kernels", variant_name(cpu_variant())},
          {"cpu_capability", cpu_capability()},
          {"device", describe_device(compute_device())},
          {"torch", TORCH_VERSION},
          {"grm", GRM_VERSION},
          {"git", GRM_GIT_ID}};
}

ordered_json parsed(const std::string& environment, const std::string& origin) {
  ordered_json env = try_json<ordered_json>(environment);
  if (!env.is_object()) {
    fail(ErrorKind::data, "{}: damaged: this is not what a run writes; start a new run", origin);
  }
  // Runs of before there were legs: what stands at the top is their only one.
  if (!env.contains("legs")) {
    ordered_json first = {{"from_epoch", 1}};
    for (const char* key : kArithmetic) {
      if (env.contains(key)) first[key] = env[key];
    }
    env["legs"] = ordered_json::array({first});
  }
  if (!env["legs"].is_array()) fail(ErrorKind::data, "{}: damaged: 'legs' is no list", origin);
  for (const ordered_json& leg : env["legs"]) {
    if (!leg.is_object() || !leg.contains("from_epoch")) {
      fail(ErrorKind::data, "{}: damaged: a leg does not say where it begins", origin);
    }
    whole_number(leg, "from_epoch", origin);
  }
  return env;
}

void drop_lost_legs(ordered_json& legs, int64_t from_epoch) {
  while (!legs.empty() && legs.back()["from_epoch"].get<int64_t>() >= from_epoch) {
    legs.erase(legs.size() - 1);
  }
}

std::string value_text(const ordered_json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
  return text.empty() ? "none" : text;
}

// Calls each(key, old, new) for what two legs say differently. Old files lack some keys: what was
// not written down cannot be compared.
template <class Each>
void compare(const ordered_json& before, const ordered_json& now, Each&& each) {
  for (const char* key : kArithmetic) {
    if (!before.contains(key) || !now.contains(key) || before[key] == now[key]) continue;
    each(key, value_text(before[key]), value_text(now[key]));
  }
}

}  // namespace

std::string blas_name() {
  // OpenBLAS exports a function that describes its build; other libraries do not have it.
  using Describe = char* (*)();
  if (auto describe = reinterpret_cast<Describe>(blas_function("openblas_get_config"))) {
    return describe();
  }
  // "MKL-DNN", which every torch names, is another library.
  if (at::show_config().find("Math Kernel Library") != std::string::npos) return "MKL";
  return "unknown";
}

std::string blas_core() {
  using Describe = char* (*)();
  if (auto describe = reinterpret_cast<Describe>(blas_function("openblas_get_corename"))) {
    return describe();
  }
  return "";
}

std::string environment_json(const Task& task) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const ordered_json leg = leg_json(1);
  const ordered_json env = {{"grm", GRM_VERSION},
                            {"git", GRM_GIT_ID},
                            {"compiler", GRM_COMPILER},
                            {"torch", TORCH_VERSION},
                            {"blas", leg["blas"]},
                            {"blas_core", leg["blas_core"]},
                            {"kernels", leg["kernels"]},
                            {"cpu_capability", leg["cpu_capability"]},
                            {"threads", leg["threads"]},
                            {"device", leg["device"]},
                            {"host", host},
                            {"started", leg["started"]},
                            {"legs", ordered_json::array({leg})},
                            {"data_hashes", task.hashes},
                            {"missing", task.missing},
                            {"notes", task.notes}};
  return json_text(env, 2) + "\n";
}

std::string with_leg(const std::string& environment, int64_t from_epoch,
                     const std::string& origin) {
  ordered_json env = parsed(environment, origin);
  drop_lost_legs(env["legs"], from_epoch);
  env["legs"].push_back(leg_json(from_epoch));
  return json_text(env, 2) + "\n";
}

std::vector<std::string> other_arithmetic(const std::string& environment, int64_t from_epoch,
                                          const std::string& origin) {
  ordered_json env = parsed(environment, origin);
  drop_lost_legs(env["legs"], from_epoch);
  const ordered_json current = leg_json(from_epoch);
  std::vector<std::string> list;
  for (const ordered_json& leg : env["legs"]) {
    compare(leg, current, [&](const char* key, const std::string& before, const std::string& now) {
      const std::string line = fmt::format("{}: {}, now {}", key, before, now);
      if (std::find(list.begin(), list.end(), line) == list.end()) list.push_back(line);
    });
  }
  return list;
}

std::vector<std::string> mixed_arithmetic(const std::string& environment) {
  std::vector<std::string> list;
  try {
    const ordered_json env = parsed(environment, "");
    for (size_t k = 1; k < env["legs"].size(); ++k) {
      const ordered_json& leg = env["legs"][k];
      compare(env["legs"][k - 1], leg,
              [&](const char* key, const std::string& before, const std::string& now) {
                list.push_back(fmt::format("{}: {}, from epoch {} on {}", key, before,
                                           leg["from_epoch"].get<int64_t>(), now));
              });
    }
  } catch (const Error&) {
    list.clear();
  }
  return list;
}

}  // namespace grm
