// tests/conformance/onnx_ops.tsv says what stands for each of ONNX's operators: what is there to import says the same.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "ir/files/files.h"
#include "ir/import/families.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t end; (end = text.find(by, at)) != text.npos; at = end + by.size()) parts.push_back(text.substr(at, end - at));
  parts.push_back(text.substr(at));
  return parts;
}

struct Row { std::string op, version, status, operations, note; };
std::vector<Row> rows() {
  std::vector<Row> r;
  std::istringstream in(read_file(std::string(PLUMB_SOURCE_DIR) + "/tests/conformance/onnx_ops.tsv"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    auto fields = split(line, "\t");
    fields.resize(5);
    r.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return r;
}

/// What the operations make it.
std::string status_of(const std::string& operations) {
  for (const auto& form : split(operations, " | ")) {
    const auto ops = split(form, ", ");
    for (const auto& o : ops) {
      if (o.empty()) continue;
      const auto code = find_op(o);
      if (!code) return "with an unknown operation " + o;
      if (ops.size() > 1 || is_composite(*code)) return "composite";
    }
  }
  return "primitive";
}

TEST(ImportOpTable, SaysWhatStandsForEachOperator) {
  std::set<std::string> seen;
  for (const auto& r : rows()) {
    EXPECT_TRUE(seen.insert(r.op).second) << r.op << " stands twice";
    const bool imported = onnx_import::find_entry(r.op) != nullptr;
    EXPECT_EQ(imported, r.status != "left out") << r.op;
    if (r.status == "left out") EXPECT_TRUE(r.operations.empty() && !r.note.empty()) << r.op << " is left out without a reason";
    else EXPECT_EQ(status_of(r.operations), r.status) << r.op;
    EXPECT_TRUE(!r.operations.empty() || !r.note.empty()) << r.op << " has neither operations nor a note";
  }
  EXPECT_EQ(seen.size(), 193u);  // in ONNX 1.17's list; onnx_ops.py compares the names
}

}  // namespace
}  // namespace plumb::ir
