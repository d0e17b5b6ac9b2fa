// Runs the text tests: tests/ops/*.plumb and tests/reports/*.plumb.
//   // run: @f == 1, 2.5, nan     the result of @f (which takes no inputs), element by element; zeros by their sign; a second
//   //                            result stands after " ; "; "none" is a result without elements; a complex element is its parts
//   // error: @f some words       running @f is bad input whose message holds the words
//   // inexact: why              under relaxed the compiled answer is judged kernel by kernel alone, not by these values;
//   // inexact: @f @g            of these functions only
// Expected values come from the specification, exact arithmetic or a public report. The reference must give them bit for
// bit, and so must cpu and simt under strict; under relaxed each kernel's answer must be legal, and equal unless "inexact".
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
#include "verify/simt_target.h"

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

/// Whether the text says that relaxed may give the function other values.
bool is_inexact(const std::string& text, const std::string& function) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("// inexact")) continue;
    if (!line.starts_with("// inexact: @") || (line + " ").find("@" + function + " ") != std::string::npos) return true;
  }
  return false;
}

interp::Number value_of(DType t, const std::string& word) {
  if (word == "true" || word == "false") return {.u = word == "true"};
  if (is_signed(t)) return {.i = std::stoll(word)};
  if (!is_float(t)) return {.u = std::stoull(word)};
  return {.f = interp::round_to(t, std::strtod(word.c_str(), nullptr))};
}

void expect_values(const ir::Literal& value, const std::string& expected, const std::string& who) {
  const auto got = value.as_parts();
  if (expected == "none") {
    EXPECT_EQ(got.elements(), 0) << who;
    return;
  }
  std::istringstream in(expected);
  std::int64_t i = 0;
  for (std::string word; std::getline(in, word, ','); ++i) {
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    ASSERT_LT(i, got.elements()) << who << ": more values are expected than there are";
    const auto want = value_of(got.dtype(), word), have = interp::load(got.dtype(), got.raw(), i);
    EXPECT_TRUE(interp::same(got.dtype(), want, have)) << who << ", element " << i << ": expected " << word << ", got " << (is_float(got.dtype()) ? have.f : static_cast<double>(have.i));
  }
  EXPECT_EQ(i, got.elements()) << who;
}
void expect_results(const std::vector<ir::Literal>& got, const std::string& expected, const std::string& who) {
  std::size_t k = 0, at = 0;
  while (at < expected.size()) {
    const auto end = std::min(expected.find(" ; ", at), expected.size());
    ASSERT_LT(k, got.size()) << who << ": more results are expected than there are";
    expect_values(got[k], expected.substr(at, end - at), who + ", result " + std::to_string(k));
    ++k;
    at = end + 3;
  }
  EXPECT_EQ(k, got.size()) << who;
}

ir::Module entry(ir::Module m, const std::string& name) {
  for (auto& f : m.functions) {
    if (f.name == "main") f.name = "main_of_file";
    if (f.name == name) f.name = "main";
  }
  return m;
}

/// Where and how a text is compiled and run.
struct Way {
  std::shared_ptr<backends::Backend> backend;
  std::string target;
  Contract contract;
  std::string str() const { return " on " + target + " under " + std::string(name(contract)); }
};
/// Machines that test every change have no GPU; one that has takes part.
std::shared_ptr<backends::Backend> cuda_if_there() {
  try {
    return backends::make_cuda_backend();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    return nullptr;
  }
}
std::vector<Way> ways() {
  std::vector<Way> r;
  for (auto contract : {Contract::strict, Contract::relaxed}) {
    r.push_back({backends::make_cpu_backend({2, 0}), "cpu", contract});
    r.push_back({verify::make_simt_backend(), "simt", contract});
    if (const auto gpu = cuda_if_there()) r.push_back({gpu, "cuda", contract});
  }
  return r;
}
std::vector<ir::Literal> compiled(const ir::Module& m, const Way& way, backends::Observer* observer) {
  lowering::Options o;
  o.target = way.backend->facts();
  o.contract = way.contract;
  return backends::Session(lowering::lower(m, o), way.backend).run({}, {observer, true});
}

template <class Run> void expect_error(const Line& line, const std::string& who, Run run) {
  try {
    run();
    ADD_FAILURE() << who << " runs";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_NE(std::string(e.what()).find(line.expected), std::string::npos) << who << ": " << e.what();
  }
}

void expect_values_by(const Way& way, const ir::Module& m, const Line& line, bool inexact) {
  const auto who = line.function + way.str();
  verify::CheckOptions check;
  check.write_repro = false;
  check.contract = way.contract;
  check.target = way.target;
  verify::KernelChecker checker(check);
  const auto got = compiled(m, way, &checker);
  for (const auto& f : checker.report().failures) ADD_FAILURE() << who << ", " << f.kernel << " " << f.index << ": got " << f.got << ", allowed " << f.allowed;
  if (!inexact || way.contract == Contract::strict) expect_results(got, line.expected, who);
}

class TextTest : public testing::TestWithParam<std::string> {};

TEST_P(TextTest, runs) {
  const auto text = ir::read_file(GetParam());
  const auto module = ir::parse(text, GetParam());
  const auto lines = lines_of(text);
  ASSERT_FALSE(lines.empty()) << "a text test has a `// run:` or `// error:` line";
  const auto all = ways();
  for (const auto& line : lines) {
    const auto m = entry(module, line.function);
    if (line.error) {
      expect_error(line, line.function + " on reference", [&] { interp::evaluate(m, {}); });
      for (const auto& way : all) expect_error(line, line.function + way.str(), [&] { compiled(m, way, nullptr); });
      continue;
    }
    expect_results(interp::evaluate(m, {}), line.expected, line.function + " on reference");
    for (const auto& way : all) expect_values_by(way, m, line, is_inexact(text, line.function));
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
