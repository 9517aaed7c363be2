#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/table.h"
#include "grm/data/dataset.h"

namespace CLI {
class App;
}

// Verbs parse and call; all work is the library's. Results go to stdout, talk to stderr.
namespace grm::cli {

using nlohmann::ordered_json;

/// Flags that every verb understands.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  std::string data_root;
  std::string device;  // empty: not said
  bool allow_missing = false;

  /// --data-root, else $GRM_DATA; the cache folder of this user.
  DataContext data_context() const;
  /// Sets threads and log sinks; Error(device) for a device that is not there.
  void apply() const;
  /// Makes --device, or else `configured`, the device that this process computes on.
  void use_device(const std::string& configured = "cpu") const;
};

/// Under a limit of the address space (ulimit -v): Error(memory) if so many threads do not fit, and
/// the buffers and stacks of those that were set. BLAS and OpenMP would wait for ever, or end the
/// program without a word, if they found no room later.
void check_room_for_threads(int count);
void take_room_for_threads();

void add_common(CLI::App& verb, Common& common, bool needs_data);

/// Each adds a verb; the chosen one puts what is to be done into `action`.
using Action = std::function<int()>;
void set_call(CLI::App& verb, Action& action, Action call);
void add_train(CLI::App& app, Common& common, Action& action);
void add_bench(CLI::App& app, Common& common, Action& action);
void add_study(CLI::App& app, Common& common, Action& action);
void add_study_table(CLI::App& study, Common& common, Action& action);
void add_reproduce(CLI::App& app, Common& common, Action& action);
void add_plot(CLI::App& app, Common& common, Action& action);
void add_report(CLI::App& app, Common& common, Action& action);
void add_fit(CLI::App& app, Common& common, Action& action);
void add_watch(CLI::App& app, Common& common, Action& action);
void add_eval(CLI::App& app, Common& common, Action& action);
void add_explain(CLI::App& app, Common& common, Action& action);
void add_export(CLI::App& app, Common& common, Action& action);
void add_attribute(CLI::App& app, Common& common, Action& action);
void add_predict(CLI::App& app, Common& common, Action& action);
void add_ui(CLI::App& app, Common& common, Action& action);
void add_serve(CLI::App& app, Common& common, Action& action);
void add_data(CLI::App& app, Common& common, Action& action);
void add_methods(CLI::App& app, Common& common, Action& action);
void add_options(CLI::App& app, Common& common, Action& action);
void add_doctor(CLI::App& app, Common& common, Action& action);
void add_completion(CLI::App& app, Common& common, Action& action);

/// The script that `grm completion SHELL` prints.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// Writes every text that the launcher prints without the engine (launcher/help.h): the help of all
/// verbs, the completion scripts and the version.
void write_help_file(const CLI::App& app, const std::string& path);

/// One JSON value on stdout, indented.
void print_json(const ordered_json& value);

/// The table on stdout as its lines are wide, with the best values bold where there is colour.
void print_table(const Table& table);

/// "45 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Talk on stderr. Unlike fmt::print it never throws: nobody listening is no reason to stop.
void say(const std::string& text);

/// This process is one of several and not their first: messages go to its file alone, errors say its
/// rank.
void talk_as(int rank);
/// "rank 1: " of a process that talks as that, else nothing.
std::string speaker();
/// One JSON object for an error, unless another process of several prints it.
void print_error_json(const char* kind, const std::string& message);
/// Says why and ends the process at once, from any thread.
[[noreturn]] void end_process(const std::string& why, const char* kind, bool json, int code);

/// Messages also go to this file from now on; an empty path ends that.
void log_to(const std::string& path);

/// True once SIGINT, SIGTERM or SIGHUP came (after watch_interrupt); a second one, whichever, ends
/// the program at once. `answer` is written to stderr when Ctrl-C is pressed. SIGHUP stays ignored
/// under nohup.
constexpr int kInterrupted = 130;  // the program's exit code then
void watch_interrupt(const char* answer = "");
bool interrupted();

}  // namespace grm::cli
