#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>

#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/listen.h"
#include "core/files.h"
#include "core/json.h"
#include "core/system/process.h"
#include "grm/core/error.h"
#include "grm/core/log.h"
#include "serve/signals.h"
#include "serve/studio.h"

namespace grm::cli {
namespace {

struct UiFlags {
  serve::StudioOptions options;
  ListenFlags listen;
  bool no_browser = false;
};

// Where there is a desktop, its browser.
void open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const std::string opener = find_program("xdg-open");
  if (opener.empty()) return;
  const std::string fault = run_program({opener, address}, 5.0);
  if (!fault.empty()) log_info("no browser was opened: {}", fault);
}

int studio(UiFlags& flags, const Common& common) {
  serve::StudioOptions& options = flags.options;
  flags.listen.limit(options.http);
  if (!serve::is_loopback(options.address)) {
    log_warning(
        "whoever reaches {} and knows the token sees these runs; the token travels in the clear",
        options.address);
  }
  std::error_code code;
  options.program = std::filesystem::read_symlink("/proc/self/exe", code).string();
  serve::watch_signals();
  serve::Studio studio(options);
  print_address(common.json ? json_text(ordered_json{{"address", studio.address()}})
                            : studio.address());
  log_info("{} of {}; Ctrl-C ends it",
           options.write ? "starts runs and shows those" : "shows the runs", options.folder);
  if (!flags.no_browser) open_browser(studio.address());
  serve::wait_for_end([] {}, [] {});
  log_info("stopping");
  studio.stop(5.0);
  return 0;
}

}  // namespace

void add_ui(CLI::App& app, Common& common, Action& action) {
  CLI::App* verb =
      app.add_subcommand("ui", "a local studio: runs and studies of a folder in a browser");
  auto flags = std::make_shared<UiFlags>();
  serve::StudioOptions& options = flags->options;
  add_common(*verb, common, false);
  verb->add_option("folder", options.folder, "folder of runs")->capture_default_str();
  flags->listen.add(*verb, options.port, options.address);
  verb->add_flag("--no-browser", flags->no_browser, "do not open a browser");
  verb->add_flag("--write", options.write,
                 "let the page start and stop runs, which go into FOLDER");
  verb->add_option("--db", options.database, "result database of studies")->capture_default_str();
  verb->footer(
      "The first line on stdout is the address with a token that is drawn anew at every start; "
      "without\n"
      "the token nothing is shown. docs/studio.md says more.\n"
      "Examples:\n"
      "  grm ui\n"
      "  grm ui runs --port 8090 --no-browser\n"
      "  grm ui runs --write");
  set_call(*verb, action, [=, &common] { return studio(*flags, common); });
}

}  // namespace grm::cli
