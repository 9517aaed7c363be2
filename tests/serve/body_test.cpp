// What a body leaves on disk for the readers of own data.
#include "serve/body.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "core/system/temporary_folder.h"
#include "grm/core/error.h"
#include "io/npz.h"

namespace grm::serve {
namespace {

HttpRequest json(const std::string& body) {
  HttpRequest request;
  request.headers["content-type"] = "application/json; charset=utf-8";
  request.body = body;
  return request;
}

TEST(Body, ArraysBecomeAnNpzFile) {
  const TemporaryFolder folder("grm-body");
  const HttpRequest request = json(
      R"({"model": "a", "item": 7, "arrays": {"x": [[1, 2.5], [null, 4]], "edge_index": [[0], [1]]}})");
  const Body body(request);
  EXPECT_EQ(body.asking().model, "a");
  EXPECT_EQ(body.asking().item, "7");
  const io::Npz npz = io::read_npz(body.write(TableNames(), folder.path()));
  EXPECT_EQ(npz.at("edge_index").scalar_type(), torch::kInt64);
  const torch::Tensor x = npz.at("x");
  ASSERT_EQ(x.sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(x[0][1].item<double>(), 2.5);
  EXPECT_TRUE(torch::isnan(x[1][0]).item<bool>());
}

TEST(Body, RowsBecomeTablesWithTheModelsNames) {
  const TemporaryFolder folder("grm-body");
  const HttpRequest request = json(
      R"({"tables": {"nodes": [{"id": "a;b", "v": 0.1, "w": null}, {"w": true, "id": "say \"x\"", "v": 3}],
          "edges": []}})");
  TableNames names;
  names.nodes = "accounts.csv";
  names.separator = ';';
  const std::string path = Body(request).write(names, folder.path());
  EXPECT_EQ(read_file(path + "/accounts.csv"), "id;v;w\n\"a;b\";0.1;\n\"say \"\"x\"\"\";3;1\n");
  EXPECT_EQ(read_file(path + "/edges.csv"), "source;target\n");
}

TEST(Body, RefusesWhatIsNoData) {
  const TemporaryFolder folder("grm-body");
  for (const char* text :
       {"[]", "{", "{}", R"({"arrays": {"x": [["a"]]}})", R"({"arrays": {"x": [[1], [1, 2]]}})",
        R"({"arrays": {"../x": [1]}})", R"({"graphs": {"../a": {"x": [[1]]}}})",
        R"({"files": {"../nodes.csv": "id"}})", R"({"tables": {"nodes": [{"id": [1]}]}})",
        R"({"tables": {"nodes": [{"id": 1}, {"other": 1}]}})"}) {
    const HttpRequest request = json(text);
    EXPECT_THROW(Body(request).write(TableNames(), folder.path()), Error) << text;
  }
  HttpRequest plain = json("{}");
  plain.headers["content-type"] = "text/plain";
  EXPECT_THROW(Body{plain}, Error);
}

}  // namespace
}  // namespace grm::serve
