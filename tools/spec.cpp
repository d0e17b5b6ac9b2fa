// plumb spec: the specification, from the records of this build.
#include <iostream>

#include "interpreter/specification/document.h"
#include "ir/files/files.h"
#include "tools/cli.h"

namespace plumb::tools {

int spec_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("out", po::value<std::string>(), "a file instead of the terminal");
  po::variables_map given;
  if (!parse_options(command("spec"), args, options, {}, given)) return 0;
  const auto text = spec::document();
  if (given.count("out")) ir::write_file(given["out"].as<std::string>(), text);
  else std::cout << text;
  return 0;
}

}  // namespace plumb::tools
