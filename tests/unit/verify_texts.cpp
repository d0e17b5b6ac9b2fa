// Runs the text tests: tests/ops/*.plumb and tests/reports/*.plumb.
//   // run: @f == 1, 2.5, nan     the only result of @f (which takes no inputs), element by element; zeros by their sign
//   // error: @f some words       running @f is bad input whose message holds the words
// Expected values come from the specification, exact arithmetic or a public report. The reference must give them bit for
// bit; the compiled answer must be legal kernel by kernel, and equal wherever the operation is exact ("run exact:").
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "backends/runtime/executor.h"
#include "interpreter/domains/number.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/files/files.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"

namespace plumb {
namespace {

struct Line { std::string function, expected; bool error = false; };

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool run = line.starts_with("// run: @"), error = line.starts_with("// error: @");
    if (!run && !error) continue;
    const auto at = line.find('@') + 1;
    const auto end = line.find(' ', at);
    auto rest = line.substr(end + 1);
    if (run) rest = rest.substr(rest.find("== ") + 3);
    lines.push_back({line.substr(at, end - at), rest, error});
  }
  return lines;
}

interp::Number value_of(DType t, const std::string& word) {
  if (word == "true" || word == "false") return {.u = word == "true"};
  if (is_signed(t)) return {.i = std::stoll(word)};
  if (!is_float(t)) return {.u = std::stoull(word)};
  return {.f = interp::round_to(t, std::strtod(word.c_str(), nullptr))};
}

void expect_values(const ir::Literal& got, const std::string& expected, const std::string& who) {
  std::istringstream in(expected);
  std::int64_t i = 0;
  for (std::string word; std::getline(in, word, ','); ++i) {
    word.erase(0, word.find_first_not_of(' '));
    ASSERT_LT(i, got.elements()) << who << ": more values are expected than there are";
    const auto want = value_of(got.dtype(), word), have = interp::load(got.dtype(), got.raw(), i);
    EXPECT_TRUE(interp::same(got.dtype(), want, have)) << who << ", element " << i << ": expected " << word << ", got " << (is_float(got.dtype()) ? have.f : static_cast<double>(have.i));
  }
  EXPECT_EQ(i, got.elements()) << who;
}

ir::Module entry(ir::Module m, const std::string& name) {
  for (auto& f : m.functions) {
    if (f.name == "main") f.name = "main_of_file";
    if (f.name == name) f.name = "main";
  }
  return m;
}

class TextTest : public testing::TestWithParam<std::string> {};

TEST_P(TextTest, runs) {
  const auto text = ir::read_file(GetParam());
  const auto module = ir::parse(text, GetParam());
  const auto lines = lines_of(text);
  ASSERT_FALSE(lines.empty()) << "a text test has a `// run:` or `// error:` line";
  const auto cpu = backends::make_cpu_backend({2, 0});
  for (const auto& line : lines) {
    const auto m = entry(module, line.function == "main" ? "main" : line.function);
    lowering::Options o;
    o.target = cpu->facts();
    auto compiled = [&](backends::Observer* observer) { return backends::Session(lowering::lower(m, o), cpu).run({}, {observer, true}); };
    if (line.error) {
      for (int target = 0; target < 2; ++target) try {
          target ? (void)compiled(nullptr) : (void)interp::evaluate(m, {});
          ADD_FAILURE() << line.function << " runs";
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::input);
          EXPECT_NE(std::string(e.what()).find(line.expected), std::string::npos) << e.what();
        }
      continue;
    }
    expect_values(interp::evaluate(m, {}).at(0), line.expected, line.function + " on reference");
    verify::CheckOptions check;
    check.write_repro = false;
    verify::KernelChecker checker(check);
    const auto got = compiled(&checker).at(0);
    for (const auto& f : checker.report().failures) ADD_FAILURE() << line.function << " on cpu, " << f.kernel << " " << f.index << ": got " << f.got << ", allowed " << f.allowed;
    if (text.find("// inexact") == std::string::npos) expect_values(got, line.expected, line.function + " on cpu");
  }
}

std::vector<std::string> files() {
  std::vector<std::string> r;
  for (const char* dir : {"ops", "reports"})
    for (const auto& f : std::filesystem::directory_iterator(std::filesystem::path(PLUMB_SOURCE_DIR) / "tests" / dir))
      if (f.path().extension() == ".plumb") r.push_back(f.path().string());
  std::sort(r.begin(), r.end());
  return r;
}

std::string test_name(const testing::TestParamInfo<std::string>& test) {
  const std::filesystem::path p(test.param);
  return p.parent_path().filename().string() + "_" + p.stem().string();
}
INSTANTIATE_TEST_SUITE_P(Texts, TextTest, testing::ValuesIn(files()), test_name);

}  // namespace
}  // namespace plumb
