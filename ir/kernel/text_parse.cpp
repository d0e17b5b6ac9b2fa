#include "ir/kernel/text_parse.h"

#include "ir/tensor/text.h"

namespace plumb::kir {

namespace {
constexpr std::int64_t most = std::int64_t{1} << 40;   ///< of sizes, coefficients and counts: sums of them stay far from 2^63
constexpr int deepest = 100;
}  // namespace

Kernel KernelParser::kernel() {
  k_ = {};
  buffers_.clear(), scalars_.clear(), vars_.clear(), maps_.clear();
  keyword("kernel");
  k_.name = lex_.expect(TokenKind::function, "the kernel's name, as @name").name();
  lex_.expect("(", "before the parameters");
  if (!lex_.accept(")")) {
    do parameter();
    while (lex_.accept(","));
    lex_.expect(")", "after the parameters");
  }
  if (lex_.accept_word("schedule")) k_.schedule = lex_.expect(TokenKind::string, "the schedule's name in quotes").name();
  lex_.expect("{", "before the body");
  while (header()) {
  }
  while (!lex_.peek().is("}")) k_.body.push_back(statement());
  lex_.expect("}", "after the body");
  resolve_maps();
  return std::move(k_);
}

void KernelParser::parameter() {
  const bool in = lex_.accept_word("in"), out = !in && lex_.accept_word("out");
  const Space space = in || out ? Space::global : choose({Space::global, Space::shared, Space::local, Space::fragment}, "'in' or 'out' before a parameter");
  const Token name = lex_.expect(TokenKind::value, "the parameter's name, as %name");
  lex_.expect(":", "before the parameter's type");
  const DType t = dtype();
  const auto b = declare_buffer(name, t, sizes(), space);
  if (in) k_.inputs.push_back(b);
  if (out) k_.outputs.push_back(b);
}

bool KernelParser::header() {
  if (lex_.accept_word("correctly_rounded")) return k_.correctly_rounded = true;
  if (lex_.accept_word("reduction")) return reduction(), true;
  if (lex_.accept_word("site")) return site(), true;
  if (lex_.accept_word("map")) return output_map(), true;
  if (lex_.accept_word("spec")) return spec(), true;
  return false;
}

void KernelParser::reduction() {
  integer("the reduction's number, in order", static_cast<std::int64_t>(k_.reductions.size()), static_cast<std::int64_t>(k_.reductions.size()));
  lex_.expect(":", "after the reduction's number");
  Reduction r;
  const Token fn = lex_.expect(TokenKind::identifier, "a scalar function's name");
  const auto id = fn_from_name(fn.text);
  if (!id) lex_.fail(fn, "there is no scalar function '" + std::string(fn.text) + "'");
  r.fn = *id;
  keyword("in");
  r.accumulator = dtype();
  keyword("terms");
  r.terms = integer("the number of terms", 0, INT64_MAX);
  keyword("height");
  r.height = integer("the longest chain", 0, INT64_MAX);
  if (lex_.accept_word("node")) r.spec_node = static_cast<int>(integer("a node of the specification", 0, 1 << 30));
  r.truncates = lex_.accept_word("truncates");
  k_.reductions.push_back(r);
}

void KernelParser::site() {
  integer("the site's number, in order", static_cast<std::int64_t>(k_.sites.size()), static_cast<std::int64_t>(k_.sites.size()));
  lex_.expect(":", "after the site's number");
  Site s{lex_.expect(TokenKind::string, "the operation's name in quotes").name(), {}};
  if (lex_.accept_word("at")) {
    s.where.file = lex_.expect(TokenKind::string, "a file's name in quotes").name();
    s.where.line = static_cast<int>(integer("a line", 0, 1 << 30));
    s.where.column = static_cast<int>(integer("a column", 0, 1 << 30));
  }
  k_.sites.push_back(std::move(s));
}

/// Loops come later in the text: their names are looked up at the end.
void KernelParser::output_map() {
  k_.output_maps.push_back({buffer(), {}});
  lex_.expect(":", "after the mapped buffer");
  const auto map = k_.output_maps.size() - 1;
  if (lex_.peek().kind != TokenKind::identifier) return;
  const auto before = lex_.mark();
  lex_.next();
  const bool entries = lex_.peek().is("=");  // else the next header or statement starts here
  lex_.rewind(before);
  if (!entries) return;
  do {
    const Token var = lex_.expect(TokenKind::identifier, "a loop variable");
    lex_.expect("=", "after the loop variable");
    maps_.push_back({map, var, affine()});
  } while (lex_.accept(","));
}

void KernelParser::resolve_maps() {
  for (const auto& m : maps_) {
    const auto v = vars_.find(m.var.name());
    if (v == vars_.end()) lex_.fail(m.var, "no loop of the kernel has the variable '" + m.var.name() + "'");
    k_.output_maps[m.map].inverse.emplace_back(v->second, m.value);
  }
}

/// The function's text goes to the tensor parser, behind as many lines as stand before it here, so that places agree.
void KernelParser::spec() {
  const Token open = lex_.expect("{", "after 'spec'");
  int depth = 1;
  Token t = open;
  while (depth > 0) {
    t = lex_.next();
    if (t.kind == TokenKind::end) lex_.fail(open, "the specification is not closed");
    depth += t.is("{") - t.is("}");
  }
  const auto from = open.offset + 1;
  std::string text(static_cast<std::size_t>(open.line - 1), '\n');
  text += std::string(static_cast<std::size_t>(open.column), ' ') + std::string(text_.substr(from, t.offset - from));
  auto module = ir::parse(text, file_);
  if (module.functions.size() != 1) lex_.fail(open, "a specification is one function");
  k_.spec = std::make_shared<ir::Function>(std::move(module.functions[0]));
}

void KernelParser::deeper() {
  if (++depth_ > deepest) lex_.fail(lex_.peek(), "nested more than " + std::to_string(deepest) + " deep");
}

Block KernelParser::block() {
  deeper();
  lex_.expect("{", "before a block");
  Block b;
  while (!lex_.peek().is("}")) b.push_back(statement());
  lex_.expect("}", "after a block");
  --depth_;
  return b;
}

Stmt KernelParser::statement() {
  if (lex_.peek().kind == TokenKind::value) return named();
  if (lex_.accept_word("for")) return loop();
  if (lex_.accept_word("if")) return condition();
  if (lex_.accept_word("alloc")) return alloc();
  if (lex_.accept_word("barrier")) return {Barrier{choose({Scope::warp, Scope::warpgroup, Scope::block}, "warp, warpgroup or block")}};
  if (lex_.accept_word("async_copy")) return async_copy();
  if (lex_.accept_word("async_commit")) return {AsyncCommit{}};
  if (lex_.accept_word("async_wait")) return {AsyncWait{static_cast<int>(integer("how many groups may be unfinished", 0, 1 << 20))}};
  if (lex_.accept_word("tile_load")) return tile_load();
  if (lex_.accept_word("tile_mma")) return tile_mma();
  if (lex_.accept_word("tile_fill")) {
    const auto fragment = buffer();
    lex_.expect("=", "after the fragment");
    return {TileFill{fragment, scalar()}};
  }
  if (lex_.accept_word("tile_store")) {
    auto [to, index] = access();
    lex_.expect("=", "after the place");
    return {TileStore{to, std::move(index), buffer()}};
  }
  lex_.fail_expected("a statement");
}

/// `%1 = …` defines a scalar; `%b[…] = %1` stores; `%b[…] add= %1` combines.
Stmt KernelParser::named() {
  const Token name = lex_.next();
  if (lex_.peek().is("[")) return store_or_combine(name);
  lex_.expect("=", "after the scalar's name");
  return definition(name);
}

Stmt KernelParser::store_or_combine(const Token& name) {
  const auto b = buffer(name);
  auto index = indices();
  if (lex_.accept("=")) return {Store{b, std::move(index), scalar()}};
  const Token fn = lex_.expect(TokenKind::identifier, "'=', or the function to combine with");
  const auto id = fn_from_name(fn.text);
  if (!id) lex_.fail(fn, "there is no scalar function '" + std::string(fn.text) + "'");
  lex_.expect("=", "after the function");
  Combine c{b, std::move(index), *id, scalar(), -1, -1};
  if (lex_.accept(",")) c.b = scalar();
  c.reduction = reduction_use();
  return {std::move(c)};
}

Stmt KernelParser::loop() {
  const Token name = lex_.expect(TokenKind::identifier, "the loop's variable");
  if (is_reserved(name.text)) lex_.fail(name, "'" + std::string(name.text) + "' is a word of the format, not a loop's variable");
  keyword("in");
  For f;
  f.extent = affine();
  f.kind = choose({LoopKind::serial, LoopKind::unrolled, LoopKind::parallel, LoopKind::vector, LoopKind::gpu_block, LoopKind::gpu_thread, LoopKind::tile},
                  "the loop's kind: serial, unrolled, parallel, vector, gpu_block, gpu_thread or tile");
  if (lex_.accept("(")) {
    f.width = static_cast<int>(integer("a width", 0, 1 << 16));
    lex_.expect(")", "after the width");
  }
  f.var = static_cast<VarId>(k_.vars.size());
  if (!vars_.emplace(name.name(), f.var).second) lex_.fail(name, "another loop has the variable '" + name.name() + "'; names are unique in a kernel");
  k_.vars.push_back(name.name());
  f.body = block();
  return {std::move(f)};
}

Stmt KernelParser::condition() {
  if (lex_.peek().kind == TokenKind::value) {
    const auto before = lex_.mark();
    const Token name = lex_.next();
    if (lex_.peek().is("{")) {
      const auto s = scalar(name);
      return {IfValue{s, block()}};
    }
    lex_.rewind(before);
  }
  If i{predicate(), {}, {}};
  i.then = block();
  if (lex_.accept_word("else")) i.otherwise = block();
  return {std::move(i)};
}

Stmt KernelParser::alloc() {
  const Token name = lex_.expect(TokenKind::value, "the buffer's name");
  lex_.expect(":", "before the buffer's type");
  const auto space = choose({Space::global, Space::shared, Space::local, Space::fragment}, "global, shared, local or fragment");
  const DType t = dtype();
  return {Alloc{declare_buffer(name, t, sizes(), space)}};
}

Stmt KernelParser::async_copy() {
  AsyncCopy c;
  std::tie(c.to, c.to_index) = access();
  lex_.expect("=", "after the place to copy to");
  std::tie(c.from, c.from_index) = access();
  keyword("tile");
  c.tile = sizes();
  return {std::move(c)};
}

Stmt KernelParser::tile_load() {
  TileLoad t;
  t.fragment = buffer();
  lex_.expect("=", "after the fragment");
  std::tie(t.from, t.index) = access();
  t.transposed = lex_.accept_word("transposed");
  return {std::move(t)};
}

Stmt KernelParser::tile_mma() {
  TileMma t;
  t.d = buffer();
  lex_.expect("=", "after the accumulators");
  t.a = buffer();
  lex_.expect("*", "between the fragments");
  t.b = buffer();
  t.scope = choose({Scope::warp, Scope::warpgroup, Scope::block}, "warp, warpgroup or block");
  t.reduction = reduction_use();
  return {t};
}

BufferId KernelParser::declare_buffer(const Token& name, DType dtype, Extents extents, Space space) {
  const auto id = static_cast<BufferId>(k_.buffers.size());
  if (!buffers_.emplace(name.name(), id).second || scalars_.contains(name.name())) lex_.fail(name, ir::describe(name) + " is declared twice");
  k_.buffers.push_back({name.name(), dtype, std::move(extents), space});
  return id;
}

Extents KernelParser::sizes() {
  lex_.expect("[", "before the sizes");
  Extents e;
  if (lex_.accept("]")) return e;
  do e.push_back(integer("a size", 0, most));
  while (lex_.accept(","));
  lex_.expect("]", "after the sizes");
  return e;
}

int KernelParser::reduction_use() { return lex_.accept_word("reduction") ? static_cast<int>(integer("a reduction's number", 0, 1 << 20)) : -1; }

Kernel parse_kernel(std::string_view text, std::string_view file) {
  KernelParser p(text, file);
  auto k = p.kernel();
  if (!p.at_end()) p.fail_here("expected one kernel, found more after it");
  return k;
}

std::vector<Kernel> parse_kernels(std::string_view text, std::string_view file) {
  KernelParser p(text, file);
  std::vector<Kernel> all;
  do all.push_back(p.kernel());
  while (!p.at_end());
  return all;
}

}  // namespace plumb::kir
