#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/own/column_reader.h"
#include "data/own/description.h"
#include "grm/data/task.h"

namespace grm::own {

/// A column of labels as text.
struct LabelTexts {
  std::string file;
  int64_t column = 0;          // from 1
  std::vector<int32_t> codes;  // by row: a number of `texts`, -1: no label
  Names texts;
  std::vector<int64_t> first_line;  // by text: where it came first
};

/// One domain as its files say it: features and labels still wait for what training decides.
struct RawDomain {
  std::string name;
  std::string file;  // where faults of the domain as a whole are told
  int64_t nodes = 0;
  torch::Tensor parts;           // [graphs + 1], graph level
  torch::Tensor source, target;  // [pairs] int64
  torch::Tensor weights;         // [pairs] float, or undefined
  torch::Tensor truth;           // [pairs] uint8, or undefined

  // Features: rows of tables, or arrays (whose dense part may be a table, too).
  std::shared_ptr<const Columns> columns, edge_columns;
  torch::Tensor rows, edge_rows;  // [nodes], [pairs] int64: rows of these tables
  Features x, edge_x;
  int64_t x_sparse = 0;  // columns of x that the file holds sparse; the others it holds dense

  // Labels: rows of a column of texts, or numbers. Both undefined: there are none.
  std::shared_ptr<const LabelTexts> label_texts;
  torch::Tensor label_rows;            // [items] int64
  torch::Tensor y;                     // [items] int64, -1: unknown
  torch::Tensor targets;               // [items, tasks] float, NaN: unknown; for other targets
  torch::Tensor loss_mask, eval_mask;  // [items] bool; undefined: every labelled item counts
  torch::Tensor role;                  // [items] int64, where the domain is split: a Role, -1: none
  std::vector<std::string> item_names;

  Level level() const { return parts.defined() ? Level::graph : Level::node; }
  int64_t items() const { return level() == Level::graph ? parts.numel() - 1 : nodes; }
};

/// What readers of domains share.
struct ReadContext {
  const Description& d;
  Purpose purpose;
  Problems& problems;
  std::vector<std::string>& notes;
};

/// Tables of nodes, edges and graphs in `folder`: the domains `wanted`, those that could be read.
/// Without a domain column the tables are the one domain wanted. In prediction no name at all
/// means every domain that occurs. The plans are made from the first tables read with them.
struct Plans {
  bool made = false;
  Plan nodes, edges;
};
std::vector<RawDomain> read_tables(const ReadContext& context, const std::string& folder,
                                   const std::vector<std::string>& wanted, Plans& plans);

/// One domain from an .npz file.
RawDomain read_npz_domain(const ReadContext& context, const std::string& path,
                          const std::string& name);

/// The file, or the same with .gz; "" if there is neither.
std::string existing_table(const std::string& folder, const std::string& name);

}  // namespace grm::own
