// Every record says what the specification prints, and every label in it has a test.
//   tests/errors/*.plumb   programs that break one constraint each: "// error: dot_general_c4 some words", then the program
//   tests/ops/*.plumb      programs of the edges: the function dot_general_e1, and so on
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "ir/files/files.h"
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

const std::filesystem::path tests_dir = std::filesystem::path(PLUMB_SOURCE_DIR) / "tests";

std::string label_of(std::string_view op, std::string_view label) {
  std::string s = std::string(op) + "_" + std::string(label);
  for (auto& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

/// dot_general_c4 is a label of dot_general's, reduce_sum_c1 none of reduce's.
bool is_label_of(const std::string& label, std::string_view op, char kind) {
  const auto start = std::string(op) + "_" + kind;
  return label.starts_with(start) && label.size() > start.size() && label.find_first_not_of("0123456789", start.size()) == label.npos;
}

/// One program that must be rejected.
struct Case { std::string file, label, words, text; };

std::vector<Case> cases() {
  std::vector<Case> r;
  for (const auto& f : std::filesystem::directory_iterator(tests_dir / "errors")) {
    std::istringstream in(read_file(f.path().string()));
    for (std::string line; std::getline(in, line);) {
      const std::string mark = "// error: ";
      if (line.starts_with(mark)) {
        const auto rest = line.substr(mark.size());
        const auto blank = rest.find(' ');
        r.push_back({f.path().filename().string(), rest.substr(0, blank), rest.substr(blank + 1), ""});
      } else if (!r.empty()) {
        r.back().text += line + "\n";
      }
    }
  }
  return r;
}

TEST(OpRecords, EachProgramOfTestsErrorsBreaksItsConstraint) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(c.file + ", " + c.label);
    try {
      parse(c.text, c.file);
      ADD_FAILURE() << "is accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find("[" + c.label + "]"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(c.words), std::string::npos) << e.what();
    }
  }
}

/// Constraints that no text can break: the parser has the types of `if` and `scan` from the text, and the verifier asks its own (F2, F5).
const std::set<std::string> not_in_text{"if_c1", "if_c2", "scan_c1", "scan_c2"};

TEST(OpRecords, EachConstraintIsBrokenByATest) {
  std::set<std::string> broken;
  for (const auto& c : cases()) broken.insert(c.label);
  for (std::size_t op = 0; op < op_count(); ++op) {
    const auto& r = row(static_cast<OpCode>(op));
    if (r.op_class == OpClass::elementwise) continue;  // all share theirs: the next test
    std::set<std::string> labels;
    for (const auto& c : constraints(static_cast<OpCode>(op))) {
      const auto label = label_of(r.name, c.label);
      EXPECT_TRUE(labels.insert(label).second) << label << " stands twice";
      EXPECT_TRUE(broken.contains(label) || not_in_text.contains(label)) << "no program in tests/errors breaks " << label << ": " << c.text;
    }
    for (const auto& label : broken)
      EXPECT_TRUE(!is_label_of(label, r.name, 'c') || labels.contains(label)) << "the record of " << r.name << " has no row for " << label;
  }
}

std::string sentence(OpCode op, std::vector<Type> operands, AttrMap attrs = {}) {
  const auto r = infer(op, operands, attrs);
  const auto* why = std::get_if<std::string>(&r);
  return why ? *why : "no error";
}

TEST(OpRecords, ElementwiseOperationsTakeOneTypeThatTheirFunctionTakes) {
  for (std::size_t k = 0; k < op_count(); ++k) {
    const auto op = static_cast<OpCode>(k);
    const auto& r = row(op);
    if (r.op_class != OpClass::elementwise) continue;
    const auto arity = static_cast<std::size_t>(plumb::row(r.fn).arity);
    for (const auto& d : dtype_rows) {
      std::vector<Type> same(arity, Type{d.dtype, {2}});
      if (!takes(r.fn, d.dtype) && !(is_complex(d.dtype) && takes_complex(r.fn))) EXPECT_EQ(sentence(op, same).substr(0, 4), "C2: ") << r.name << " " << d.name;
      else EXPECT_EQ(sentence(op, same), "no error") << r.name << " " << d.name;
      if (arity == 1) continue;
      same.back().shape = {3};
      EXPECT_EQ(sentence(op, same).substr(0, 4), "C1: ") << r.name << " " << d.name;
    }
  }
}

TEST(OpRecords, IfSaysWhatItNeeds) {
  EXPECT_EQ(sentence(op("if"), {Type{DType::boolean, {1}}}), "C1: the condition must be bool[] [if_c1]");
  EXPECT_EQ(sentence(op("if"), {Type{DType::boolean, {}}}).substr(0, 4), "C2: ");
}

TEST(OpRecords, ScanSaysWhatItNeeds) {
  const Type scanned{DType::f32, {3, 2}}, other{DType::f32, {2, 2}}, scalar{DType::f32, {}};
  const auto attrs = [](std::int64_t carries) {
    AttrMap a;
    a.set("body", std::string("body"));
    a.set("carries", carries);
    return a;
  };
  const auto scan = op("scan");
  EXPECT_EQ(sentence(scan, {scalar}, attrs(1)), "C1: carries is 1 of 1 operands: at least one must be scanned [scan_c1]");
  EXPECT_EQ(sentence(scan, {scalar}, attrs(-1)).substr(0, 4), "C1: ");
  EXPECT_EQ(sentence(scan, {other, scanned}, attrs(0)), "C1: the scanned operands need an axis 0, of one size: f32[2,2] beside f32[3,2] [scan_c1]");
  EXPECT_EQ(sentence(scan, {scanned, scalar}, attrs(0)).substr(0, 4), "C1: ");
  EXPECT_EQ(sentence(scan, {other, scanned}, attrs(1)).substr(0, 4), "C2: ");
}

/// The functions that the texts of tests/ops run.
std::set<std::string> functions_run() {
  std::set<std::string> r;
  for (const auto& file : std::filesystem::directory_iterator(tests_dir / "ops")) {
    std::istringstream in(read_file(file.path().string()));
    for (std::string line; std::getline(in, line);)
      for (const std::string mark : {"// run: @", "// error: @"})
        if (line.starts_with(mark)) r.insert(line.substr(mark.size(), line.find(' ', mark.size()) - mark.size()));
  }
  return r;
}

TEST(OpRecords, EachEdgeIsShownByATest) {
  const auto run = functions_run();
  for (std::size_t k = 0; k < op_count(); ++k) {
    const auto op = static_cast<OpCode>(k);
    const auto& r = row(op);
    std::set<std::string_view> labels;
    for (const auto& e : edges(op)) {
      EXPECT_TRUE(labels.insert(e.label).second) << r.name << " has two edges " << e.label;
      EXPECT_TRUE(run.contains(label_of(r.name, e.label))) << "no text of tests/ops runs @" << label_of(r.name, e.label) << ": " << e.when;
    }
    for (const auto& f : run) {
      const bool known = std::ranges::any_of(edges(op), [&](const Edge& e) { return label_of(r.name, e.label) == f; });
      EXPECT_TRUE(!is_label_of(f, r.name, 'e') || known) << "the record of " << r.name << " has no row for @" << f;
    }
  }
}

TEST(OpRecords, EachSaysWhatItMeansAndWhereItsEdgesAre) {
  for (std::size_t k = 0; k < op_count(); ++k) {
    const auto op = static_cast<OpCode>(k);
    const auto& r = row(op);
    EXPECT_FALSE(r.doc.empty()) << r.name;
    EXPECT_TRUE(is_composite(op) || !equation(op).empty()) << r.name << " has neither an equation nor a decomposition";
    if (r.op_class == OpClass::elementwise) continue;  // the edges are the scalar function's
    EXPECT_NE(edges(op).empty(), no_edges(op).empty()) << r.name << " names edges, or says why it has none";
  }
}

}  // namespace
}  // namespace plumb::ir
