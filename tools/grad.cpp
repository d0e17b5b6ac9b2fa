// plumb grad: a program's gradients, as a program.
#include <algorithm>
#include <iostream>

#include "ir/files/files.h"
#include "ir/tensor/text.h"
#include "lowering/autodiff/autodiff.h"
#include "tools/cli.h"

namespace plumb::tools {

namespace {
/// %a or a; several in one word, with commas between.
std::vector<std::string> names_from(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const auto& word : words)
    for (std::size_t at = 0; at <= word.size();) {
      const auto end = std::min(word.find(',', at), word.size());
      const auto from = at < end && word[at] == '%' ? at + 1 : at;
      if (from == end) fail_input("--wrt takes names of parameters, not '" + word + "'");
      names.push_back(word.substr(from, end - from));
      at = end + 1;
    }
  return names;
}

bool has_symbols(const ir::Module& m) {
  const auto& f = m.entry();
  return std::any_of(f.params.begin(), f.params.end(), [&](auto v) { return !f.type(v).is_concrete(); });
}

/// Most rules know sizes by name; where one needs the number, its message says how to give it.
ir::Module gradients(const ir::Module& m, const std::vector<std::string>& wrt) {
  try {
    return lowering::gradient(m, wrt);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input || !has_symbols(m)) throw;
    fail_input(std::string(e.what()) + "; plumb grad takes sizes of named dimensions by --dim NAME=SIZE");
  }
}
}  // namespace

int grad_command(const Args& args) {
  po::options_description options("options");
  auto add = options.add_options();
  add("out,o", po::value<std::string>(), "a file instead of the terminal");
  add("wrt", po::value<std::vector<std::string>>()->composing(), "parameters to differentiate by; all of floats without");
  add("dim", po::value<std::vector<std::string>>()->composing(), "NAME=SIZE of a named dimension");
  add("program", po::value<std::string>(), "FILE or folder");
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("grad"), args, options, positional, given)) return 0;
  if (!given.count("program")) fail_input("which program? usage: plumb grad " + command("grad").synopsis);
  const auto wrt = given.count("wrt") ? names_from(given["wrt"].as<std::vector<std::string>>()) : std::vector<std::string>{};
  const Source source(given["program"].as<std::string>());
  const auto module = source.named(dims_from(given));
  const auto text = ir::print(gradients(module, wrt));
  if (given.count("out")) ir::write_file(given["out"].as<std::string>(), text);
  else std::cout << text;
  return 0;
}

}  // namespace plumb::tools
