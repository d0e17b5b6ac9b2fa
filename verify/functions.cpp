#include "verify/functions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <mutex>

#include "backends/runtime/executor.h"
#include "interpreter/domains/enclosure.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/oracle.h"

namespace plumb::verify {
namespace {

constexpr std::int64_t chunk = 1 << 16;

/// One function compiled under one contract, for `chunk` elements.
class Compiled {
 public:
  Compiled(FnId fn, DType t, Contract contract, const std::shared_ptr<backends::Backend>& target) : session_(lower(fn, t, contract, target->facts()), target) {}
  ir::Literal operator()(std::span<const ir::Literal> in) { return session_.run(in)[0]; }

 private:
  static std::shared_ptr<const lowering::Program> lower(FnId fn, DType t, Contract contract, const kir::TargetFacts& facts) {
    const auto type = ir::Type{t, {chunk}}.str();
    const bool two = plumb::row(fn).arity == 2;
    const auto m = ir::parse("func @f(%x: " + type + (two ? ", %y: " + type : "") + ") -> (" + type + ") { %0 = " + std::string(plumb::row(fn).name) + (two ? "(%x, %y)" : "(%x)") + " : " + type + " return %0 }");
    lowering::Options o;
    o.contract = contract;
    o.target = facts;
    return lowering::lower(m, o);
  }
  backends::Session session_;
};

/// How the arguments are numbered: all patterns, each stride-th of them, or pseudo-random ones.
struct Arguments {
  std::int64_t count = 0;
  std::uint64_t stride = 1;
  bool random = false;

  Arguments(FnId fn, DType t, const FunctionOptions& o) {
    const int bits = byte_size(t) * 8;
    random = bits > 32 || plumb::row(fn).arity > 1;
    const std::int64_t all = random ? o.inputs : std::int64_t{1} << bits;
    count = o.inputs > 0 ? std::min(o.inputs, all) : all;
    // An odd stride meets every pattern once in 2^bits steps, and all binades in few.
    stride = count == all ? 1 : (static_cast<std::uint64_t>(all) / static_cast<std::uint64_t>(count)) | 1;
  }
  std::uint64_t pattern(std::int64_t i, std::size_t argument, std::uint64_t seed) const {
    return random ? random_word(seed + argument, static_cast<std::uint64_t>(i)) : static_cast<std::uint64_t>(i) * stride;
  }
};

class Worker {
 public:
  Worker(FnId fn, DType t, const FunctionOptions& o, const Arguments& arguments)
      : fn_(fn), t_(t), o_(o), arguments_(arguments), strict_(fn, t, Contract::strict, o.target), relaxed_(fn, t, Contract::relaxed, o.target) {
    result.fn = fn, result.dtype = t;
    for (int k = 0; k < plumb::row(fn).arity; ++k) in_.emplace_back(ir::Type{t, {chunk}});
  }

  void run(std::int64_t first) {
    const std::int64_t last = std::min(first + chunk, arguments_.count);
    for (std::size_t k = 0; k < in_.size(); ++k)
      for (std::int64_t i = 0; i < chunk; ++i) {
        const auto bits = arguments_.pattern(std::min(first + i, last - 1), k, o_.seed);
        std::memcpy(static_cast<char*>(in_[k].mutable_raw()) + i * byte_size(t_), &bits, static_cast<std::size_t>(byte_size(t_)));
      }
    const auto strict = strict_(in_), relaxed = relaxed_(in_);
    for (std::int64_t i = 0; i < last - first; ++i) judge(i, interp::load(t_, strict.raw(), i), interp::load(t_, relaxed.raw(), i));
    result.inputs += last - first;
  }
  FunctionResult result;

 private:
  void judge(std::int64_t i, interp::Number strict, interp::Number relaxed) {
    interp::Number x[2] = {};
    interp::Enclosed points[2];
    for (std::size_t k = 0; k < in_.size(); ++k) x[k] = interp::load(t_, in_[k].raw(), i), points[k] = interp::Enclosed::point(t_, x[k]);
    const auto wanted = interp::apply(fn_, t_, std::span(x, in_.size()));
    const auto note = [&](double (&at)[2]) { at[0] = x[0].f, at[1] = x[1].f; };
    if (strict.u != wanted.u && !(std::isnan(strict.f) && std::isnan(wanted.f)) && result.misrounded++ == 0) note(result.misrounded_at);
    const auto allowed = interp::stored(interp::enclose(fn_, t_, std::span(points, in_.size())), t_);
    result.beyond += !interp::contains(allowed, t_, relaxed);
    if (!std::isfinite(relaxed.f) || !std::isfinite(wanted.f)) return;
    const double exact = t_ == DType::f64 ? wanted.f : interp::approximate(fn_, x[0].f, x[1].f), off = std::fabs(relaxed.f - exact) / interp::ulp(t_, exact);
    const bool saturates = !row(t_).has_inf && std::fabs(exact) > interp::round_to(t_, std::numeric_limits<double>::max());
    if (off > result.worst_ulp && !saturates) result.worst_ulp = off, note(result.worst_at);
  }

  FnId fn_;
  DType t_;
  const FunctionOptions& o_;
  const Arguments& arguments_;
  Compiled strict_, relaxed_;
  std::vector<ir::Literal> in_;
};

void join(FunctionResult& to, const FunctionResult& part) {
  if (to.misrounded == 0 && part.misrounded) std::copy_n(part.misrounded_at, 2, to.misrounded_at);
  if (part.worst_ulp > to.worst_ulp) to.worst_ulp = part.worst_ulp, std::copy_n(part.worst_at, 2, to.worst_at);
  to.inputs += part.inputs;
  to.misrounded += part.misrounded;
  to.beyond += part.beyond;
}

}  // namespace

std::vector<FnId> elementary_functions() {
  std::vector<FnId> r;
  for (std::size_t f = 0; f < AllFns::rows.size(); ++f)
    if (AllFns::rows[f].ulp > 0.5 && AllFns::rows[f].takes != Takes::integer) r.push_back(static_cast<FnId>(f));
  return r;
}

FunctionResult check_function(FnId fn, DType t, const FunctionOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const Arguments arguments(fn, t, o);
  FunctionResult result;
  result.fn = fn, result.dtype = t;
  std::atomic<std::int64_t> next{0};
  std::vector<std::future<FunctionResult>> workers;
  for (int w = 0; w < std::max(1, o.threads); ++w)
    workers.push_back(std::async(std::launch::async, [&] {
      Worker worker(fn, t, o, arguments);
      for (std::int64_t first = next.fetch_add(chunk); first < arguments.count; first = next.fetch_add(chunk)) worker.run(first);
      return worker.result;
    }));
  for (auto& w : workers) join(result, w.get());
  result.all = !arguments.random && arguments.stride == 1 && result.inputs == std::int64_t{1} << (byte_size(t) * 8);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace plumb::verify
