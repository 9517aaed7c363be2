#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/listen.h"
#include "cli/run_flags.h"
#include "core/files.h"
#include "core/json.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "serve/service.h"
#include "serve/signals.h"

namespace grm::cli {
namespace {

struct ServeFlags {
  serve::ServiceOptions options;
  std::string token_file;
  ListenFlags listen;
  double drain = 10.0;
};

// The first line of a file, without blanks around it.
std::string read_token(const std::string& path) {
  std::string text = read_file(path);
  text.resize(std::min(text.find('\n'), text.size()));
  const size_t first = text.find_first_not_of(" \t\r");
  text = first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  if (text.size() < 16) {
    fail(ErrorKind::config,
         "{}: a token has at least 16 characters; fix: openssl rand -hex 32 > {}", path, path);
  }
  return text;
}

int serve_models(ServeFlags& flags, const Common& common) {
  serve::ServiceOptions& options = flags.options;
  options.device = common.device.empty() ? "cpu" : common.device;
  flags.listen.limit(options.http);
  if (!flags.token_file.empty()) options.token = read_token(flags.token_file);
  if (!serve::is_loopback(options.address) && options.token.empty()) {
    log_warning("everybody who reaches {} may ask these models; --token-file asks for a token",
                options.address);
  }
  serve::watch_signals();
  serve::Service service(options);
  print_address(common.json ? json_text(ordered_json{{"address", service.address()},
                                                     {"models", service.names()}})
                            : service.address());
  for (const std::string& name : service.names()) log_info("model {}", name);
  serve::wait_for_end([&] { service.reload(/*all=*/true); },
                      [&] { service.reload(/*all=*/false); });
  log_info("stopping: requests that have begun are answered");
  service.stop(flags.drain);
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb =
      app.add_subcommand("serve", "a prediction service: models behind HTTP, for other programs");
  auto flags = std::make_shared<ServeFlags>();
  serve::ServiceOptions& options = flags->options;
  add_common(*verb, common, true);
  add_memory_limit(*verb);
  verb->add_option("run", options.models, "run folders or model files; NAME=RUN gives a name")
      ->required();
  flags->listen.add(*verb, options.port, options.address);
  verb->add_option("--token-file", flags->token_file,
                   "file with a token that every request must bring (Authorization: Bearer TOKEN)");
  verb->add_option("--timeout", options.worker.seconds,
                   "seconds after which a waiting request is given up")
      ->capture_default_str()
      ->check(number_above(0, 1e6));
  verb->add_option("--queue", options.worker.waiting, "requests that may wait for one model")
      ->capture_default_str()
      ->check(whole_number(1, 100000));
  verb->add_option("--connections", options.http.connections, "connections at once")
      ->capture_default_str()
      ->check(whole_number(1, 100000));
  verb->add_option("--drain", flags->drain,
                   "seconds that requests have to end after SIGTERM or Ctrl-C")
      ->capture_default_str()
      ->check(number_from(0, 1e6));
  verb->footer(
      "The address is the first line on stdout. POST /v1/predict and /v1/explain take JSON and "
      ".npz\n"
      "files; GET /v1/models, /healthz, /metrics (Prometheus) and /openapi.json. A model whose "
      "file\n"
      "changes is loaded anew, and all of them after SIGHUP. docs/serve.md says more.\n"
      "Examples:\n"
      "  grm serve runs/payments/grm/20260131T120000-1000 --port 8080\n"
      "  grm serve old=model-may.safetensors new=model-june.safetensors --port 8080\n"
      "  grm serve RUN --address 0.0.0.0 --port 8080 --token-file token.txt");
  set_call(*verb, action, [=, &common] { return serve_models(*flags, common); });
}

}  // namespace grm::cli
