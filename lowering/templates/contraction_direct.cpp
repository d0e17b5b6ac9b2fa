#include "lowering/templates/contraction.h"

namespace plumb::lowering {
namespace {

/// acc := +0, then one fused multiply-add a term of [first, first + count).
void chain(KernelContext& c, const Contraction& p, int reduction, BufferId acc, const Affine& first, std::int64_t count, const Indices& b, const Indices& m, const Indices& n) {
  c.b.store(acc, {0}, c.b.constant(c.b.info(acc).dtype, 0));
  auto step = [&](const Indices& k) {
    c.e.enter_block();
    c.b.combine_fma(acc, {0}, p.lhs(b, m, k), p.rhs(b, k, n, {}), reduction);
  };
  const bool whole = first == Affine(0) && count == p.terms();
  if (!whole || p.k.empty()) {
    c.b.loop("k", count, kir::LoopKind::serial, [&](Affine i) { step(delinearize(first + i, p.k, c.b.ranges())); });
    return;
  }
  std::function<void(Indices)> nest = [&](Indices k) {
    if (k.size() == p.k.size()) return step(k);
    c.b.loop("k" + std::to_string(k.size()), p.k[k.size()], kir::LoopKind::serial, [&](Affine i) {
      auto deeper = k;
      deeper.push_back(i);
      nest(deeper);
    });
  };
  nest({});
}

}  // namespace

void lower_direct(KernelContext& c, const Contraction& p, int reduction) {
  c.kernel->schedule = p.convolution ? "convolution_direct" : "dot_direct";
  const std::int64_t terms = p.terms() - (c.options.fault == Fault::dropped_term && p.k.size() == 1 && p.terms() > 1 ? 1 : 0);
  const DType acc_type = c.accumulator_dtype(p.dtype);
  for_each_output(c, [&](const Indices& out) {
    Indices b, m, n;
    p.coordinates(out, b, m, n);
    const auto acc = c.b.alloc("acc", acc_type, {1});
    auto add = [&](BufferId to, BufferId from) { c.b.combine(to, {0}, fn_id<scalar::Add>, c.b.load(from, {0}), reduction); };
    BufferId result = acc;
    if (terms <= chain_steps) {
      chain(c, p, reduction, acc, 0, terms, b, m, n);
    } else {
      const auto identity = [&](BufferId to) { c.b.store(to, {0}, c.b.constant(acc_type, -0.0)); };
      const auto block = c.b.alloc("block", acc_type, {1});
      const auto total = c.b.alloc("total", acc_type, {1});
      result = total;
      identity(total);
      auto one_block = [&](const Affine& first, std::int64_t count) {
        identity(block);
        if (count >= chain_steps)
          c.b.loop("c", count / chain_steps, kir::LoopKind::serial, [&](Affine i) {
            chain(c, p, reduction, acc, first + i * chain_steps, chain_steps, b, m, n);
            add(block, acc);
          });
        if (count % chain_steps) {
          chain(c, p, reduction, acc, first + count / chain_steps * chain_steps, count % chain_steps, b, m, n);
          add(block, acc);
        }
        add(total, block);
      };
      if (terms >= block_terms) c.b.loop("q", terms / block_terms, kir::LoopKind::serial, [&](Affine q) { one_block(q * block_terms, block_terms); });
      if (terms % block_terms) one_block(terms / block_terms * block_terms, terms % block_terms);
    }
    c.e.enter_block();
    c.finish(out, c.b.convert(c.b.load(result, {0}), p.dtype));
  }, 8 * c.width());
}

}  // namespace plumb::lowering
