#include "tools/prove_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "ir/files/files.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

using nlohmann::json;

std::string place(const verify::FunctionResult& r, const double (&at)[2]) {
  const auto one = [&](double v) { return r.dtype == DType::f64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v)); };
  return plumb::row(r.fn).arity > 1 ? one(at[0]) + ", " + one(at[1]) : one(at[0]);
}

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Sorted, neighbours joined; empty where two overlap.
Ranges united(Ranges r) {
  std::sort(r.begin(), r.end());
  Ranges out;
  for (const auto& [first, last] : r) {
    if (!out.empty() && first < out.back().second) return {};
    if (!out.empty() && first == out.back().second) out.back().second = last;
    else out.emplace_back(first, last);
  }
  return out;
}

auto identity(const json& row) { return std::tuple(row.at("function").get<std::string>(), row.at("dtype").get<std::string>(), row.at("contract").get<std::string>(), row.at("vector_bits").get<int>()); }

bool is_exhaustive(const json& row, const Ranges& ranges) {
  return row.at("every_argument").get<bool>() && ranges.size() == 1 && ranges[0] == std::pair<std::int64_t, std::int64_t>(0, row.at("of").get<std::int64_t>());
}

/// The counts of both; false where the two looked at some argument both.
bool join(json& to, const json& part) {
  Ranges all = to.at("ranges").get<Ranges>();
  for (const auto& r : part.at("ranges").get<Ranges>()) all.push_back(r);
  const auto ranges = united(all);
  if (ranges.empty()) return false;
  const std::string count = to.at("contract") == "strict" ? "misrounded" : "outside", where = count + "_at";
  if (to.at(count) == 0 && part.at(count) != 0) to[where] = part.at(where);
  if (part.contains("worst_ulp") && part.at("worst_ulp") > to.at("worst_ulp")) to["worst_ulp"] = part.at("worst_ulp"), to["worst_at"] = part.at("worst_at");
  for (const std::string& field : {std::string("inputs"), count}) to[field] = to.at(field).get<std::int64_t>() + part.at(field).get<std::int64_t>();
  to["seconds"] = to.at("seconds").get<double>() + part.at("seconds").get<double>();
  if (to.contains("reference_by"))
    for (const auto& [way, n] : part.at("reference_by").items()) to["reference_by"][way] = to["reference_by"].value(way, std::int64_t{0}) + n.get<std::int64_t>();
  to["ranges"] = ranges;
  to["exhaustive"] = is_exhaustive(to, ranges);
  return true;
}

std::vector<json> proof_rows(const verify::FunctionResult& r, const ProofContext& context) {
  const Ranges ranges = r.inputs ? Ranges{{r.first, r.first + r.inputs}} : Ranges{};
  json common{{"function", std::string(plumb::row(r.fn).name)}, {"dtype", std::string(name(r.dtype))}, {"machine", context.machine}, {"vector_bits", context.vector_bits}, {"inputs", r.inputs}, {"of", r.total},
              {"ranges", ranges}, {"every_argument", r.all}, {"seconds", r.seconds}};
  common["exhaustive"] = is_exhaustive(common, ranges);
  if (!r.all) common["seed"] = context.seed;
  json strict = common, relaxed = common;
  strict.update({{"contract", "strict"}, {"bound_ulp", 0.5}, {"misrounded", r.misrounded}});
  if (r.misrounded) strict["misrounded_at"] = place(r, r.misrounded_at);
  const auto& by = r.by;
  if (by.undefined + by.constant + by.polynomial + by.reduced + by.exact)
    strict["reference_by"] = {{"undefined", by.undefined}, {"constant", by.constant}, {"polynomial", by.polynomial}, {"reduced", by.reduced}, {"mpfr", by.exact}};
  relaxed.update({{"contract", "relaxed"}, {"bound_ulp", plumb::row(r.fn).ulp}, {"worst_ulp", r.worst_ulp}, {"worst_at", place(r, r.worst_at)}, {"outside", r.beyond}});
  if (r.beyond) relaxed["outside_at"] = place(r, r.beyond_at);
  return {strict, relaxed};
}

}  // namespace

struct ProofResults::Rows {
  std::vector<json> all;

  void add(json row) {
    if (row.at("inputs") == 0) return;   // a part of few arguments may be empty
    const auto same = std::find_if(all.begin(), all.end(), [&](const json& r) { return identity(r) == identity(row); });
    if (same == all.end()) {
      all.push_back(std::move(row));
      std::sort(all.begin(), all.end(), [](const json& a, const json& b) { return identity(a) < identity(b); });
      return;
    }
    const auto size = [](const json& r) { return r.at("of").get<std::int64_t>(); };
    const bool alike = size(*same) == size(row) && same->value("seed", 0) == row.value("seed", 0) && same->at("machine") == row.at("machine");
    if (alike && join(*same, row)) return;
    if (size(row) >= size(*same)) *same = std::move(row);
  }
};

ProofResults::ProofResults() : rows_(std::make_unique<Rows>()) {}
ProofResults::~ProofResults() = default;

void ProofResults::read(const std::string& path, bool must_exist) {
  if (!must_exist && !std::filesystem::exists(path)) return;
  const auto bytes = ir::read_file(path);
  try {
    const json file = json::parse(bytes);
    for (const auto& row : file.at("functions")) rows_->add(row);
  } catch (const json::exception& e) {
    fail_input(path + " is no results file of plumb prove: " + e.what());
  }
}

void ProofResults::add(const verify::FunctionResult& result, const ProofContext& context) {
  for (auto& row : proof_rows(result, context)) rows_->add(std::move(row));
}

void ProofResults::write(const std::string& path) const { ir::write_file(path, json{{"functions", rows_->all}}.dump(1) + "\n"); }

std::int64_t ProofResults::rows() const { return static_cast<std::int64_t>(rows_->all.size()); }
std::int64_t ProofResults::exhaustive() const {
  return std::count_if(rows_->all.begin(), rows_->all.end(), [](const json& r) { return r.at("exhaustive").get<bool>(); });
}
std::int64_t ProofResults::wrong() const {
  return std::count_if(rows_->all.begin(), rows_->all.end(), [](const json& r) { return r.value("misrounded", 0) != 0 || r.value("outside", 0) != 0; });
}

}  // namespace plumb::tools
