#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "core/files.h"
#include "data/mapped/read.h"
#include "dist/group.h"
#include "fuzz/parts.h"
#include "fuzz/target.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"

// As io_targets.h, for folders of own data.
namespace grm::fuzz {

/// Both ways through a folder: what has no problem loads, what has one does not.
inline void load_folder(const Folder& folder) {
  const bool fine = check_own(folder.path()).empty();
  try {
    load_own(folder.path());
  } catch (const Error&) {
    ensure(!fine, "a folder without problems is loaded");
    throw;
  }
  ensure(fine, "a folder with problems is not loaded");
}

/// A description of tables that are there.
inline void own_toml(const std::string& path) {
  const Folder folder;
  std::filesystem::create_symlink(path, folder.file("dataset.toml"));
  const char* rows = "id,label,d,x,graph\n1,0,a,1,1\n2,1,a,2,1\n3,0,b,3,2\n4,1,b,4,2\n5,0,c,5,3\n";
  std::ofstream(folder.file("nodes.csv")) << rows;
  std::ofstream(folder.file("edges.csv")) << "source,target,w\n1,2,1\n3,4,2\n";
  std::ofstream(folder.file("graphs.csv")) << "id,label,d\n1,0,a\n2,1,b\n3,1,c\n";
  load_folder(folder);
}

inline void own_tables(const std::string& path) {
  const Folder folder;
  write_parts(path, folder, "", {"dataset.toml", "nodes.csv", "edges.csv", "graphs.csv"}, false);
  load_folder(folder);
}

/// A table id,feature,value, and a libsvm file: the same bytes as either.
inline void own_long(const std::string& path) {
  int refused = 0;
  for (const bool libsvm : {false, true}) {
    const Folder folder;
    std::filesystem::create_directory(folder.file("a"));
    std::filesystem::create_symlink(path, folder.file(libsvm ? "a/n.libsvm" : "a/features.csv"));
    std::ofstream(folder.file("a/nodes.csv")) << "id,label\n0,0\n1,1\n2,0\n";
    std::ofstream(folder.file("a/edges.csv")) << "source,target\n0,1\n";
    std::filesystem::create_symlink("a", folder.file("b"));
    std::ofstream(folder.file("dataset.toml"))
        << "name = \"f\"\n[csv]\n"
        << (libsvm ? "nodes = \"n.libsvm\"" : "features = \"features.csv\"")
        << "\n[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n";
    try {
      load_folder(folder);
    } catch (const Error&) {
      if (++refused == 2) throw;
    }
  }
}

/// The same arrays in three roles, and as something to predict.
inline void own_npz(const std::string& path) {
  const Folder folder;
  for (const char* name : {"a.npz", "b.npz", "c.npz"}) {
    std::filesystem::create_symlink(path, folder.file(name));
  }
  int refused = 0;
  for (const Level level : all_values<Level>()) {
    std::ofstream(folder.file("dataset.toml"))
        << "name = \"f\"\nlevel = \"" << to_string(level)
        << "\"\n[train]\ndomains = [\"a\"]\n[validation]\ndomains = [\"b\"]\n"
           "[test]\ndomains = [\"c\"]\n";
    try {
      load_folder(folder);
      load_for_prediction(folder.file("a.npz"), "", level, 2, 0);
    } catch (const Error&) {
      if (++refused == 2) throw;
    }
  }
}

/// What a model carries to turn columns into features.
inline void preprocessing(const std::string& path) {
  const Folder folder;
  std::ofstream(folder.file("nodes.csv"))
      << "id,label,d,x,colour\n1,0,a,1,red\n2,1,a,,blue\n3,0,b,3,\n";
  std::ofstream(folder.file("edges.csv")) << "source,target,w\n1,2,1\n1,1,2\n";
  load_for_prediction(folder.path(), read_file(path), Level::node, 4, 0);
}

/// A folder of mapped graphs: one graph and one domain on it.
inline void mapped_graphs(const std::string& path) {
  const Folder folder;
  write_parts(path, folder, "",
              {"graph.json", "graph0.in_offsets.i64", "graph0.in_indices.i32", "graph0.y.i64",
               "graph0.x.f32", "graph0.sparse_offsets.i64", "graph0.sparse_indices.i32",
               "domain0.loss.i64", "domain0.evaluate.i64"},
              false);
  mapped::load(folder.path());
  mapped::verify(folder.path());
}

/// A folder of mapped graphs in two parts: one graph and one domain on it.
inline void mapped_parts(const std::string& path) {
  const Folder folder;
  std::vector<std::string> names = {"parts.json",   "whole.json",       "graph0.where.i64",
                                    "graph0.y.i64", "domain0.loss.i64", "domain0.evaluate.i64"};
  for (const std::string part : {"part0/", "part1/"}) {
    std::filesystem::create_directory(folder.file(part));
    for (const std::string array : {"in_offsets.i64", "in_indices.i32", "x.f32"}) {
      names.push_back(part + "graph0." + array);
    }
  }
  write_parts(path, folder, "", names, false);
  mapped::load(folder.path(), {dist::alone()});
  mapped::verify(folder.path());
}

inline constexpr Target kTargets[] = {
    {"own_toml", own_toml},           {"own_tables", own_tables},
    {"own_long", own_long},           {"own_npz", own_npz},
    {"preprocessing", preprocessing}, {"mapped_graphs", mapped_graphs},
    {"mapped_parts", mapped_parts},
};

}  // namespace grm::fuzz
