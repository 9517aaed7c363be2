// Finds and reads the files of all domains.
#include "data/own/read_all.h"

#include <fmt/ranges.h>

#include "data/own/locate.h"
#include "grm/core/options.h"

namespace grm::own {
namespace {

class TableReader {
 public:
  TableReader(const ReadContext& context, bool allow_missing)
      : d_(context.d), context_(context), allow_missing_(allow_missing) {}

  Reading read() {
    read_domains();
    if (into_.kind == "npz") compare_widths();
    return std::move(into_);
  }

 private:
  void read_domains() {
    if (!d_.csv.domain.empty()) return read_shared_tables();
    bool tables = false, arrays = false;
    for (const DomainName& domain : d_.domains) {
      const DomainFiles files = find_domain(d_.folder, domain.name, d_.csv);
      if (files.npz.empty() && files.folder.empty()) {
        tell_missing(domain);
        continue;
      }
      tables = tables || files.npz.empty();
      arrays = arrays || !files.npz.empty();
      if (tables && arrays) {
        context_.problems.stop(d_.problem(domain.place,
                                          "some domains are .npz files, others folders of tables",
                                          "write all of them in one of the two forms"));
      }
      read_domain(domain, files);
    }
  }

  void read_domain(const DomainName& domain, const DomainFiles& files) {
    try {
      if (!files.npz.empty()) {
        into_.kind = "npz";
        into_.domains.push_back({read_npz_domain(context_, files.npz, domain.name), domain});
        into_.files.push_back(files.npz);
      } else {
        into_.kind = "csv";
        for (RawDomain& raw : read_tables(context_, files.folder, {domain.name}, into_.plans)) {
          into_.domains.push_back({std::move(raw), domain});
        }
        const auto tables = tables_in(files.folder, d_.csv, d_.level);
        into_.files.insert(into_.files.end(), tables.begin(), tables.end());
      }
    } catch (const Stopped&) {
      // What is wrong with this domain is known; the others may have faults of their own.
    }
  }

  void read_shared_tables() {
    into_.kind = "csv";
    std::vector<std::string> names;
    for (const DomainName& domain : d_.domains) names.push_back(domain.name);
    for (RawDomain& raw : read_tables(context_, d_.folder, names, into_.plans)) {
      for (const DomainName& domain : d_.domains) {
        if (domain.name != raw.name) continue;
        into_.domains.push_back({std::move(raw), domain});
        break;
      }
    }
    into_.files = tables_in(d_.folder, d_.csv, d_.level);
  }

  void tell_missing(const DomainName& domain) {
    if (allow_missing_ && domain.role == Role::test) {
      into_.left_out.push_back(domain.name);
      context_.notes.push_back("left out, its files are missing: test domain " + domain.name);
      return;
    }
    const std::vector<std::string> there = domains_in(d_.folder, d_.csv);
    std::string fix =
        fmt::format("the folder holds: {}",
                    there.empty() ? "no domain at all" : fmt::format("{}", fmt::join(there, ", ")));
    if (there.empty() && !existing_table(d_.folder, d_.csv.nodes).empty()) {
      fix = fmt::format("write domain = \"COLUMN\", the column that names the domain in {}",
                        d_.level == Level::graph ? d_.csv.graphs : d_.csv.nodes);
    }
    context_.problems.add(d_.problem(
        domain.place,
        fmt::format("domain '{0}': {1} holds neither {0}.npz nor {0}/{2}{3}", shown(domain.name),
                    d_.folder, d_.csv.nodes, did_you_mean(domain.name, there)),
        fix));
  }

  // Arrays have no names of columns: their number must be the same everywhere.
  void compare_widths() {
    const RawDomain* first = nullptr;
    for (const ReadDomain& each : into_.domains) {
      if (!first) first = &each.raw;
      compare({first->x, first->x_sparse, first->file},
              {each.raw.x, each.raw.x_sparse, each.raw.file}, "x");
      compare({first->edge_x, first->edge_x.sparse_width(), first->file},
              {each.raw.edge_x, each.raw.edge_x.sparse_width(), each.raw.file}, "edge_attr");
      if (first->weights.defined() != each.raw.weights.defined()) {
        context_.problems.add(
            {each.raw.file, 0, 0,
             fmt::format("edge_weight is {} here, unlike in {}",
                         first->weights.defined() ? "missing" : "present", first->file),
             "save it in all files or in none"});
      }
    }
  }

  struct Given {
    const Features& x;
    int64_t sparse;  // columns
    const std::string& file;

    int64_t dense() const { return x.width() - sparse; }
    std::string text() const {
      return sparse > 0 ? fmt::format("{} sparse and {} dense columns", sparse, dense())
                        : fmt::format("{} columns", dense());
    }
  };

  void compare(const Given& first, const Given& other, const char* name) {
    if (first.sparse == other.sparse && first.dense() == other.dense()) return;
    context_.problems.add(
        {other.file, 0, 0,
         fmt::format("{} has {}, but {} has {}", name, other.text(), first.file, first.text()),
         "all domains need the same columns in the same order"});
  }

  const Description& d_;
  const ReadContext& context_;
  bool allow_missing_;
  Reading into_;
};

}  // namespace

std::vector<const RawDomain*> Reading::training() const {
  std::vector<const RawDomain*> list;
  for (const ReadDomain& each : domains) {
    if (each.about.role == Role::train) list.push_back(&each.raw);
  }
  return list;
}

Reading read_all(const ReadContext& context, bool allow_missing) {
  return TableReader(context, allow_missing).read();
}

}  // namespace grm::own
