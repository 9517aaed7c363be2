#include "report/explain_files.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/files.h"
#include "core/system/process.h"

namespace grm::report {

namespace fs = std::filesystem;

ExplanationFiles write_explanation(const ExplainedRuns& explained, const std::string& folder,
                                   double seconds) {
  const ItemExplanation& e = explained.runs.front();
  const std::string base = folder + "/explanation";
  ExplanationFiles files;
  for (const auto& [ending, content] :
       {std::pair<const char*, std::string>{".json", explanation_json(explained)},
        {".graphml", explanation_graphml(e)},
        {".dot", explanation_dot(e)}}) {
    write_file_atomic(base + ending, content);
    files.written.push_back(base + ending);
  }
  // A picture of something else beside new numbers would mislead.
  std::error_code code;
  for (const char* ending : {".svg", ".png"}) fs::remove(base + ending, code);
  const std::string neato = find_program("neato");
  if (neato.empty()) {
    files.message = fmt::format(
        "no picture: Graphviz is not in PATH; apt-get install graphviz, then: neato -n2 -Tsvg "
        "{0}.dot -o {0}.svg",
        base);
    return files;
  }
  for (const std::string kind : {"svg", "png"}) {
    const std::string part = base + "." + kind + ".part", whole = base + "." + kind;
    std::vector<std::string> argv = {neato, "-n2", "-T" + kind, base + ".dot", "-o", part};
    if (kind == "png") argv.insert(argv.begin() + 1, "-Gdpi=144");
    std::string trouble = run_program(argv, seconds);
    if (trouble.empty()) {
      fs::rename(part, whole, code);
      if (code) trouble = code.message();
    }
    if (trouble.empty()) {
      files.written.push_back(whole);
    } else {
      fs::remove(part, code);
      files.message = fmt::format("no picture {}: {} failed: {}", whole, neato, trouble);
    }
  }
  return files;
}

}  // namespace grm::report
