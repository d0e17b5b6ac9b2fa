#include "verify/functions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <numeric>
#include <optional>

#include "backends/runtime/executor.h"
#include "interpreter/domains/number.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/function_judge.h"
#include "verify/oracle.h"
#include "verify/pairs.h"

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

/// How the arguments are numbered, and which numbers are asked for: patterns in order, each stride-th of them, pairs or random ones.
struct Arguments {
  enum class Kind { sweep, strided, random, pairs } kind = Kind::sweep;
  std::int64_t total = 0, first = 0, last = 0;
  std::uint64_t stride = 1, seed = 1;
  int bytes = 4;
  std::optional<Pairs> pairs;

  Arguments(FnId fn, DType t, const FunctionOptions& o) : seed(o.seed), bytes(byte_size(t)) {
    const std::int64_t patterns = bytes <= 4 ? std::int64_t{1} << bytes * 8 : 0;
    const bool unary = plumb::row(fn).arity == 1;
    if (!unary) pairs.emplace(fn, t, o.seed), kind = Kind::pairs;
    else if (!patterns) kind = Kind::random;
    total = o.inputs > 0 && (!unary || !patterns || o.inputs < patterns) ? o.inputs : patterns;
    if (unary && patterns && total < patterns) {
      kind = Kind::strided;
      stride = (static_cast<std::uint64_t>(patterns) / static_cast<std::uint64_t>(total)) | 1;   // odd: every pattern once in 2^bits steps, all binades in few
    }
    // Parts end on whole chunks, so that together they look at what the whole does.
    const std::int64_t chunks = (total + chunk - 1) / chunk;
    first = std::min(total, chunks * o.shard / o.shards * chunk);
    last = std::min(total, chunks * (o.shard + 1) / o.shards * chunk);
  }

  void fill(std::int64_t from, std::int64_t n, std::vector<ir::Literal>& in, DType t) const {
    if (kind == Kind::sweep && bytes == 4) {
      auto* to = static_cast<std::uint32_t*>(in[0].mutable_raw());
      for (std::int64_t i = 0; i < chunk; ++i) to[i] = static_cast<std::uint32_t>(from + std::min(i, n - 1));
      return;
    }
    for (std::int64_t i = 0; i < chunk; ++i) {
      const std::int64_t number = from + std::min(i, n - 1);
      if (kind == Kind::pairs) {
        const auto p = (*pairs)(number);
        for (std::size_t k = 0; k < 2; ++k) interp::store(t, in[k].mutable_raw(), i, {.f = p[k]});
        continue;
      }
      const std::uint64_t bits = kind == Kind::random ? random_word(seed, static_cast<std::uint64_t>(number)) : static_cast<std::uint64_t>(number) * stride;
      std::memcpy(static_cast<char*>(in[0].mutable_raw()) + i * bytes, &bits, static_cast<std::size_t>(bytes));
    }
  }
};

class Worker {
 public:
  Worker(FnId fn, DType t, const FunctionOptions& o, const Arguments& arguments) : arguments_(arguments), judge_(fn, t), strict_(fn, t, Contract::strict, o.target), relaxed_(fn, t, Contract::relaxed, o.target) {
    for (int k = 0; k < plumb::row(fn).arity; ++k) in_.emplace_back(ir::Type{t, {chunk}});
  }
  void run(std::int64_t from) {
    const std::int64_t n = std::min(chunk, arguments_.last - from);
    const DType t = judge_.result.dtype;
    arguments_.fill(from, n, in_, t);
    const auto strict = strict_(in_), relaxed = relaxed_(in_);
    if (t == DType::f32 && arguments_.kind == Arguments::Kind::sweep) judge_.sweep(static_cast<std::uint32_t>(from), n, in_, strict, relaxed);
    else judge_.each(n, in_, strict, relaxed);
  }
  const FunctionResult& result() const { return judge_.result; }

 private:
  const Arguments& arguments_;
  Judge judge_;
  Compiled strict_, relaxed_;
  std::vector<ir::Literal> in_;
};

void join(FunctionResult& to, const FunctionResult& part) {
  if (to.misrounded == 0 && part.misrounded) std::copy_n(part.misrounded_at, 2, to.misrounded_at);
  if (to.beyond == 0 && part.beyond) std::copy_n(part.beyond_at, 2, to.beyond_at);
  if (part.worst_ulp > to.worst_ulp) to.worst_ulp = part.worst_ulp, std::copy_n(part.worst_at, 2, to.worst_at);
  to.inputs += part.inputs;
  to.misrounded += part.misrounded;
  to.beyond += part.beyond;
  to.by += part.by;
}

}  // namespace

std::vector<FnId> elementary_functions() {
  std::vector<FnId> r;
  for (std::size_t f = 0; f < AllFns::rows.size(); ++f)
    if (AllFns::rows[f].ulp > 0.5 && AllFns::rows[f].takes != Takes::integer) r.push_back(static_cast<FnId>(f));
  return r;
}

std::vector<FnId> checked_functions() {
  auto r = elementary_functions();
  for (FnId f : {fn_id<scalar::Div>, fn_id<scalar::FloorDiv>, fn_id<scalar::Remainder>, fn_id<scalar::Fmod>, fn_id<scalar::Sqrt>}) r.push_back(f);
  std::sort(r.begin(), r.end());
  return r;
}

FunctionResult check_function(FnId fn, DType t, const FunctionOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const Arguments arguments(fn, t, o);
  FunctionResult result;
  result.fn = fn, result.dtype = t, result.first = arguments.first, result.total = arguments.total;
  std::atomic<std::int64_t> next{arguments.first};
  std::vector<std::future<FunctionResult>> workers;
  for (int w = 0; w < std::max(1, o.threads); ++w)
    workers.push_back(std::async(std::launch::async, [&] {
      Worker worker(fn, t, o, arguments);
      for (std::int64_t from = next.fetch_add(chunk); from < arguments.last; from = next.fetch_add(chunk)) worker.run(from);
      return worker.result();
    }));
  for (auto& w : workers) join(result, w.get());
  result.all = arguments.kind == Arguments::Kind::sweep;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace plumb::verify
