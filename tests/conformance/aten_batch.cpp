// Runs many small programs on one target and judges another library's answers to them; aten_samples.py makes the programs.
//
// usage: aten_batch CASES.jsonl DATA TARGET      one line of JSON a case on standard output, in order
// A case: {"text": a module, "inputs": [offset…], "outputs": [[dtype, shape, offset]…]}; offsets are bytes of DATA.
//
// Verdicts, from sharp to loose; each element takes the first that holds, a case the last that an element took:
//   equal      the answer is ours (as a number: -0 is 0, a NaN is a NaN); integers and bools have no other way
//   enclosed   it is an answer that a relaxed lowering of the program may give
//   near       it lies within 4 units in the last place of one: the other library's own error
//   scale      it passes verify/recorded.h's measured scale: the other library's formula or order rounds elsewhere
//              (neither for a program that rounds once: there is one right answer)
//   wrong      none of these
// or error, with a message, where the program does not run.
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/runtime/executor.h"
#include "interpreter/domains/number.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/files/files.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/oracle.h"
#include "verify/recorded.h"

namespace plumb {
namespace {

using nlohmann::json;
enum Verdict { equal, enclosed, near, scale, wrong };
constexpr const char* names[] = {"equal", "enclosed", "near", "scale", "wrong"};

ir::Literal read(const std::string& data, const ir::Type& type, std::size_t offset) {
  ir::Literal l(type);
  const auto bytes = static_cast<std::size_t>(l.bytes());
  if (offset + bytes > data.size()) fail_input("an offset lies beyond the data");
  std::memcpy(l.mutable_raw(), data.data() + offset, bytes);
  return l;
}

bool equal_numbers(DType t, const interp::Number& x, const interp::Number& y) {
  if (is_float(t)) return x.f == y.f || (std::isnan(x.f) && std::isnan(y.f));
  return x.u == y.u;
}

/// Complex tensors as those of their parts, which is how they are judged.
std::vector<ir::Literal> as_parts(std::vector<ir::Literal> all) {
  for (auto& l : all) l = l.as_parts();
  return all;
}

std::vector<ir::Literal> compiled(const ir::Module& m, const std::vector<ir::Literal>& inputs) {
  static const auto cpu = backends::make_cpu_backend({1, 0});
  lowering::Options o;
  o.target = cpu->facts();
  return backends::Session(lowering::lower(m, o), cpu).run(inputs);
}

/// Whether a function rounds once at most: it moves elements, and has one operation that is correctly rounded.
bool rounds_once(const ir::Function& f) {
  int steps = 0;
  for (const auto& v : f.values)
    if (is_complex(v.type.dtype)) return false;
  for (const auto& n : f.nodes) {
    const auto& r = ir::row(n.op);
    using enum ir::OpClass;
    if (r.op_class == elementwise && row(r.fn).ulp > 0.5) return false;
    if (r.op_class == scatter || r.op_class == window || r.op_class == scan || r.op_class == contract || r.op_class == control || r.op_class == composite || r.op_class == library) return false;
    if (r.op_class == reduce && (r.fn == fn_id<scalar::Add> || r.fn == fn_id<scalar::Mul>)) return false;
    steps += r.op_class == elementwise && f.type(n.results[0]).dtype != DType::boolean;
  }
  return steps <= 1;
}

/// What a case needs only where its answers are not ours.
class Case {
 public:
  Case(const json& j, const std::string& data, bool compile) : compile_(compile) {
    m_ = ir::parse(j.at("text").get<std::string>(), "case");
    const auto& f = m_.entry();
    const auto& offsets = j.at("inputs");
    require(offsets.size() == f.params.size(), "an input for each parameter");
    for (std::size_t k = 0; k < f.params.size(); ++k) inputs_.push_back(read(data, f.type(f.params[k]), offsets[k]));
    const auto answers = compile ? compiled(m_, inputs_) : interp::evaluate(m_, inputs_);
    for (const auto& l : answers) types_.push_back(l.type());
    ours_ = as_parts(answers);
  }
  /// The types of the results, and the results, as parts.
  const std::vector<ir::Type>& types() const { return types_; }
  const std::vector<ir::Literal>& ours() const { return ours_; }
  bool exact() const { return rounds_once(m_.entry()); }
  const interp::EnclosedTensor* enclosure(std::size_t k) {
    if (!enclosed_) try {
        enclosed_ = interp::evaluate_enclosure(m_, inputs_);
      } catch (const Error&) {
        enclosed_.emplace();
      }
    return enclosed_->empty() ? nullptr : &(*enclosed_)[k];
  }
  /// Whether r is the reference's answer, where that is not ours.
  bool is_reference(std::size_t k, std::int64_t i, const interp::Number& r) {
    if (!compile_) return false;
    if (!reference_) reference_ = as_parts(interp::evaluate(m_, inputs_));
    const DType t = ours_[k].dtype();
    return equal_numbers(t, interp::load(t, (*reference_)[k].raw(), i), r);
  }
  verify::Comparison by_scale(std::size_t k, const ir::Literal& theirs) {
    if (!wide_) {
      std::vector<ir::Literal> inputs;
      for (const auto& l : inputs_) inputs.push_back(verify::widen(l));
      wide_ = as_parts(compile_ ? compiled(verify::widen(m_), inputs) : interp::evaluate(verify::widen(m_), inputs));
    }
    return verify::compare_recorded(ours_[k], (*wide_)[k], theirs);
  }

 private:
  bool compile_;
  ir::Module m_;
  std::vector<ir::Literal> inputs_, ours_;
  std::vector<ir::Type> types_;
  std::optional<std::vector<interp::EnclosedTensor>> enclosed_;
  std::optional<std::vector<ir::Literal>> wide_, reference_;
};

/// Whether r, or a number within 4 units of it, lies in the enclosure.
Verdict against(const interp::Enclosed& e, DType t, const interp::Number& r) {
  if (interp::is_wide(e, t)) return wrong;  // it decides nothing
  const auto stored = interp::stored(e, t);
  if (interp::contains(stored, t, r)) return enclosed;
  if (!std::isfinite(r.f)) return wrong;
  const double unit = interp::ulp(t, r.f);
  for (int k = -4; k <= 4; ++k)
    if (interp::contains(stored, t, {.f = interp::round_to(t, r.f + k * unit)})) return near;
  return wrong;
}

Verdict judge(Case& c, std::size_t k, const ir::Literal& answer, std::string& detail) {
  if (answer.type() != c.types()[k]) {
    detail = "it is " + answer.type().str() + ", ours " + c.types()[k].str();
    return wrong;
  }
  const auto &ours = c.ours()[k], theirs = answer.as_parts();
  const DType t = ours.dtype();
  Verdict worst = equal;
  std::int64_t at = -1;
  for (std::int64_t i = 0; i < ours.elements(); ++i) {
    const auto o = interp::load(t, ours.raw(), i), r = interp::load(t, theirs.raw(), i);
    Verdict v = equal_numbers(t, o, r) ? equal : wrong;
    if (v == wrong && is_float(t) && c.is_reference(k, i, r)) v = enclosed;
    if (v == wrong && is_float(t))
      if (const auto* e = c.enclosure(k)) v = against(e->elements[static_cast<std::size_t>(i)], t, r);
    if (v > worst) at = i;
    worst = std::max(worst, v);
  }
  if (worst == near && c.exact()) worst = wrong;
  if (worst != wrong) return worst;
  verify::Comparison comparison;
  if (is_float(t) && !c.exact()) {
    comparison = c.by_scale(k, theirs);
    if (comparison.wrong == 0) return scale;
  }
  const auto o = interp::load(t, ours.raw(), at), r = interp::load(t, theirs.raw(), at);
  detail = "at " + verify::show_index(at, ours.extents()) + ": ours " + verify::show(t, o) + ", theirs " + verify::show(t, r) + (comparison.first_wrong.empty() ? "" : "; " + comparison.first_wrong);
  return wrong;
}

json run(const json& j, const std::string& data, bool compile) {
  try {
    Case c(j, data, compile);
    const auto& outputs = j.at("outputs");
    if (outputs.size() != c.ours().size()) fail_input("the program has another number of results");
    Verdict worst = equal;
    std::string detail;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto dtype = dtype_from_name(outputs[k][0].get<std::string>());
      const auto theirs = read(data, {dtype.value(), ir::to_shape(outputs[k][1].get<ir::Ints>())}, outputs[k][2]);
      worst = std::max(worst, judge(c, k, theirs, detail));
    }
    return {{"verdict", names[worst]}, {"detail", detail}};
  } catch (const std::exception& e) {
    return {{"verdict", "error"}, {"detail", e.what()}};
  }
}

int run_all(char** argv) {
  const auto data = ir::read_file(argv[2]);
  const bool compile = std::string(argv[3]) == "cpu";
  std::ifstream cases(argv[1]);
  for (std::string line; std::getline(cases, line);)
    std::cout << run(json::parse(line), data, compile).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  return 0;
}

}  // namespace
}  // namespace plumb

int main(int argc, char** argv) {
  if (argc != 4 || (std::string(argv[3]) != "cpu" && std::string(argv[3]) != "reference")) {
    std::cerr << "usage: aten_batch CASES.jsonl DATA reference|cpu\n";
    return 2;
  }
  return plumb::run_all(argv);
}
