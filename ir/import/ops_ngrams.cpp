// TfIdfVectorizer on integers: how often each n-gram of a pool comes in each row.
//
// An n-gram of n entries with s skips is a row's entries at p, p + s + 1, …, p + (n - 1)(s + 1). Single entries are counted
// once, not once for each number of skips.
#include <set>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

/// The pool's n-grams of n entries, and the places that their counts have among all n-grams of the pool.
struct Grams {
  std::int64_t n, count;
  Ints entries;   ///< count × n
};

Ints list_of(NodeImport& n, const char* what) {
  auto list = n.int_list(what);
  if (!list) n.fail(std::string("has no ") + what);
  return *list;
}

/// Of every n, from 1 on.
std::vector<Grams> pool_of(NodeImport& n) {
  if (n.text_list("pool_strings")) n.unsupported("pool_strings: there are no tensors of strings");
  const Ints starts = list_of(n, "ngram_counts"), pool = list_of(n, "pool_int64s");
  const auto size = static_cast<std::int64_t>(pool.size());
  std::vector<Grams> all;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto length = static_cast<std::int64_t>(k) + 1, from = starts[k], to = k + 1 < starts.size() ? starts[k + 1] : size;
    if (from < 0 || from > to || to > size || (to - from) % length != 0) n.fail("ngram_counts and a pool of " + std::to_string(size) + " entries do not fit");
    all.push_back({length, (to - from) / length, Ints(pool.begin() + from, pool.begin() + to)});
    std::set<Ints> distinct;
    for (auto at = from; at < to; at += length) distinct.insert(Ints(pool.begin() + at, pool.begin() + at + length));
    if (static_cast<std::int64_t>(distinct.size()) != all.back().count) n.fail("the pool holds an n-gram twice");
  }
  return all;
}

/// [rows, grams]: how often each comes.
ValueId counts_of(NodeImport& n, ValueId rows, const Grams& g, std::int64_t skips) {
  const auto w = n.words();
  const auto lines = w.size(rows, 0), length = w.size(rows, 1);
  const std::int64_t shape[] = {g.count, g.n};
  const auto grams = n.b.constant(Literal::of<std::int64_t>(DType::i64, shape, std::span<const std::int64_t>(g.entries)));
  ValueId total = w.b.broadcast_to(w.b.scalar(DType::i64, 0), {lines, g.count});
  for (std::int64_t step = 1; step <= (g.n == 1 ? 1 : skips + 1); ++step) {
    const auto places = length - (g.n - 1) * step;
    if (places <= 0) break;
    const Shape each{lines, places, g.count};
    ValueId all = w.b.broadcast_to(w.b.scalar(DType::boolean, 1), each);
    for (std::int64_t k = 0; k < g.n; ++k) {
      const auto entry = w.broadcast(w.slice(rows, 1, k * step, k * step + places), each, {0, 1});
      all = w("and", all, w("eq", entry, w.broadcast(w.b.reshape(w.slice(grams, 1, k, k + 1), {g.count}), each, {2})));
    }
    total = w("add", total, w.reduce("reduce_sum", w.b.convert(all, DType::i64), {1}));
  }
  return total;
}

/// What stands for a count: itself, or whether it is not 0, times the n-gram's weight.
ValueId scored(NodeImport& n, ValueId counts, const std::string& mode) {
  const auto w = n.words();
  const auto weights = n.real_list("weights");
  if (weights && static_cast<std::int64_t>(weights->size()) != w.size(counts, 1)) n.fail("there are " + std::to_string(weights->size()) + " weights for " + std::to_string(w.size(counts, 1)) + " n-grams");
  const auto score = w.b.convert(mode == "IDF" ? w.b.convert(w.with("gt", counts, 0), DType::i64) : counts, DType::f32);
  return mode == "TF" || !weights ? score : w("mul", score, w.along(score, 1, Reals(weights->begin(), weights->end())));
}

void tf_idf_vectorizer(NodeImport& n) {
  const Type x = n.type_in(0);
  if ((x.dtype != DType::i32 && x.dtype != DType::i64) || x.rank() < 1 || x.rank() > 2) n.fail("takes i32 or i64 [entries] or [rows,entries], not " + x.str());
  const auto mode = n.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") n.fail("mode is '" + mode + "'");
  const auto least = n.integer("min_gram_length"), most = n.integer("max_gram_length"), skips = n.integer("max_skip_count");
  if (least < 1 || most < least || skips < 0 || skips > max_dim) n.fail("n-grams of " + std::to_string(least) + " to " + std::to_string(most) + " entries with " + std::to_string(skips) + " skips");
  const auto pool = pool_of(n);
  if (most > static_cast<std::int64_t>(pool.size())) n.fail("the pool has n-grams of at most " + std::to_string(pool.size()) + " entries, not " + std::to_string(most));
  const auto rows = n.b.convert(x.rank() == 2 ? n.in(0) : n.b.reshape(n.in(0), {1, x.elements()}), DType::i64);
  const auto lines = n.extents(rows)[0];
  std::vector<ValueId> parts;
  for (const auto& g : pool)
    parts.push_back(g.n < least || g.n > most ? n.broadcast(n.b.scalar(DType::i64, 0), {lines, g.count}, {}) : counts_of(n, rows, g, skips));
  const auto scores = scored(n, n.concat(parts, 1), mode);
  const Ints columns = list_of(n, "ngram_indexes");
  const auto grams = n.extents(scores)[1];
  if (static_cast<std::int64_t>(columns.size()) != grams) n.fail("there are " + std::to_string(columns.size()) + " ngram_indexes for " + std::to_string(grams) + " n-grams");
  std::int64_t width = 0;
  for (auto c : columns) {
    if (c < 0 || c > max_dim) n.fail("ngram_indexes has entry " + std::to_string(c));
    width = std::max(width, c + 1);
  }
  n.check_table(width);
  Ints from(static_cast<std::size_t>(width), grams);   // the column of zeros, but for those that an n-gram has
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (std::exchange(from[static_cast<std::size_t>(columns[k])], static_cast<std::int64_t>(k)) != grams) n.fail("ngram_indexes has " + std::to_string(columns[k]) + " twice");
  const auto y = n.pick(n.words().pad(scores, 0, {0, 0}, {0, 1}), 1, from);
  n.out(x.rank() == 2 ? y : n.b.reshape(y, {width}));
}

constexpr OpEntry entries[] = {{"TfIdfVectorizer", 1, 1, tf_idf_vectorizer}};
}  // namespace
std::span<const OpEntry> ngram_family() { return entries; }
}  // namespace plumb::ir::onnx_import
